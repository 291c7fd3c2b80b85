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
        if case .resolved = self {
            throw StoreError(.invalidPredicate, "\(self) is about objects, and here values of groups are asked about.")
        }
        return try mapped({ try $0.renamed(change) }, { try $0.renamedWithinLimit(change) })
    }

    /// Returns the condition with its direct parts replaced. A constant and a resolved condition have none.
    package func mapped(_ operand: (Operand) throws -> Operand, _ condition: (Condition) throws -> Condition) rethrows -> Condition {
        switch self {
        case .constant, .resolved: return self
        case .comparison(var comparison):
            comparison.left = try operand(comparison.left)
            comparison.right = try operand(comparison.right)
            return .comparison(comparison)
        case .and(let parts): return .and(try parts.map(condition))
        case .or(let parts): return .or(try parts.map(condition))
        case .not(let part): return .not(try condition(part))
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
        if case .subquery(let path, _, _, _) = self {
            throw path.location.error("A SUBQUERY is about objects, and here values of groups are asked about.")
        }
        return try mapped({ try $0.renamed(change) }, { try $0.renamed(change) })
    }

    /// Returns the operand with its direct parts replaced. A path, a constant and a subquery have none.
    package func mapped(_ operand: (Operand) throws -> Operand, _ condition: (Condition) throws -> Condition) rethrows -> Operand {
        switch self {
        case .path, .constant, .object, .now, .query, .subquery: return self
        case .score(let search): return .score(try condition(search))
        case .aggregate(let function, let value): return .aggregate(function, try value.map(operand))
        case .list(let elements): return .list(try elements.map(operand))
        case .range(let low, let high, let includesHigh):
            return .range(low: try low.map(operand), high: try high.map(operand), includesHigh: includesHigh)
        case .arithmetic(let operation, let left, let right): return .arithmetic(operation, try operand(left), try operand(right))
        case .function(let function, let operands): return .function(function, try operands.map(operand))
        case .datePart(let part, let date, let zone): return .datePart(part, try operand(date), zone: zone)
        case .conditional(let test, let first, let second):
            return .conditional(try condition(test), try operand(first), try operand(second))
        case .cast(let value, let type): return .cast(try operand(value), type)
        }
    }
}
