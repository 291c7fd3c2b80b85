import PolyStoreBackend

extension Condition {
    /// Returns the same condition with some of its operands replaced.
    /// - Parameter change: Returns the replacement of an operand, or nil to replace the operands that it consists of. Called for every path.
    /// - Throws: errors of `change`; `invalidPredicate` if a name cannot be replaced because it belongs to a subquery or is already resolved.
    package func renamed(_ change: (Operand) throws -> PropertyPath?) throws -> Condition {
        guard depth(upTo: FetchRequest.maximumDepth + 1) <= FetchRequest.maximumDepth else {
            throw StoreError(.invalidPredicate, "The condition is nested too deeply; \(FetchRequest.maximumDepth) levels are the limit.")
        }
        return try renamedWithinLimit(change)
    }

    private func renamedWithinLimit(_ change: (Operand) throws -> PropertyPath?) throws -> Condition {
        switch self {
        case .constant: return self
        case .comparison(var comparison):
            comparison.left = try comparison.left.renamed(change)
            comparison.right = try comparison.right.renamed(change)
            return .comparison(comparison)
        case .and(let parts): return .and(try parts.map { try $0.renamedWithinLimit(change) })
        case .or(let parts): return .or(try parts.map { try $0.renamedWithinLimit(change) })
        case .not(let part): return .not(try part.renamedWithinLimit(change))
        case .resolved: throw StoreError(.invalidPredicate, "\(self) is about objects, and here values of groups are asked about.")
        }
    }
}

extension Operand {
    /// A Boolean value that indicates whether the operand is computed from an aggregate over the objects of a group.
    package var computesWithAggregates: Bool {
        if case .aggregate = self { return false }
        var isFound = false
        _ = try? renamed { operand in
            if case .aggregate = operand { isFound = true }
            return nil
        }
        return isFound
    }

    fileprivate func renamed(_ change: (Operand) throws -> PropertyPath?) throws -> Operand {
        if let path = try change(self) { return .path(path) }
        switch self {
        case .path, .constant, .object, .now: return self
        case .aggregate(let function, let operand): return .aggregate(function, try operand?.renamed(change))
        case .list(let elements): return .list(try elements.map { try $0.renamed(change) })
        case .range(let low, let high, let includesHigh):
            return .range(low: try low?.renamed(change), high: try high?.renamed(change), includesHigh: includesHigh)
        case .arithmetic(let operation, let left, let right):
            return .arithmetic(operation, try left.renamed(change), try right.renamed(change))
        case .function(let function, let operands): return .function(function, try operands.map { try $0.renamed(change) })
        case .datePart(let part, let date, let zone): return .datePart(part, try date.renamed(change), zone: zone)
        case .conditional(let condition, let first, let second):
            return .conditional(try condition.renamed(change), try first.renamed(change), try second.renamed(change))
        case .cast(let inner, let type): return .cast(try inner.renamed(change), type)
        case .subquery(let path, _, _, _):
            throw path.location.error("A SUBQUERY is about objects, and here values of groups are asked about.")
        }
    }
}
