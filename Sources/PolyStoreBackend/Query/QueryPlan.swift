#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How a request is carried out, and, from ``ReadTransaction/explain(_:)``, what that took. Its text and its JSON are stable.
public struct QueryPlan: Sendable, Hashable, Codable {
    /// One way to find rows.
    public struct Access: Sendable, Hashable, Codable {
        public enum Path: String, Sendable, Hashable, Codable {
            /// The condition selects nothing, whatever is in the store.
            case nothing
            /// Every record of the entity, by id.
            case scan
            /// Records by their ids, or a range of ids.
            case primaryKey
            /// The entries of an index between two ends.
            case search
            /// All entries of an index, for the sake of their order or because they hold all that is needed.
            case index
            /// A number that the store keeps.
            case statistics
        }

        public var path: Path
        /// ``Index/name``.
        public var index: String?
        /// What bounds a search, without constants: `age>?`, `city=? AND age<?`.
        public var condition: String?
        /// The index holds everything that is needed: no record is read.
        public var isCovering: Bool
        /// From the end to the beginning.
        public var isReversed: Bool

        public init(_ path: Path, index: String? = nil, condition: String? = nil, isCovering: Bool = false, isReversed: Bool = false) {
            self.path = path
            self.index = index
            self.condition = condition
            self.isCovering = isCovering
            self.isReversed = isReversed
        }
    }

    public var entity: String
    /// Several where each part of an OR has its own.
    public var accesses: [Access]
    /// What the backend does itself: the condition, the order, limit and offset.
    public var pushedDown: [String]
    /// What the shared executor does afterwards.
    public var remainder: [String]
    /// The engine's own description, a line each.
    public var engine: [String]
    /// Rows or index entries looked at; nil in a plan that was not carried out.
    public var rowsExamined: Int?
    public var rowsReturned: Int?

    public init(entity: String, accesses: [Access], pushedDown: [String] = [], remainder: [String] = [], engine: [String] = []) {
        self.entity = entity
        self.accesses = accesses
        self.pushedDown = pushedDown
        self.remainder = remainder
        self.engine = engine
    }

    /// Whether every record of the entity is looked at, or as many as it takes.
    public var isScan: Bool { accesses.contains { $0.path == .scan } }

    /// The way to the rows in words: `scan`, `primary key (objectID=?)`, `index Person_age (age>?)`, `index Person_age (order)`.
    public var access: String { accesses.map(\.description).joined(separator: " or ") }

    /// As JSON with sorted keys.
    public var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings, numbers and truth values only: this cannot fail.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

extension QueryPlan.Access: CustomStringConvertible {
    public var description: String {
        let name: String
        switch path {
        case .nothing: return "nothing"
        case .scan: name = "scan"
        case .primaryKey: name = "primary key"
        case .search: name = "index \(index ?? "?")"
        case .index: name = "index \(index ?? "?") (order)"
        case .statistics: return "statistics"
        }
        return (isCovering ? "covering " : "") + name + (condition.map { " (\($0))" } ?? "") + (isReversed ? " reversed" : "")
    }
}

extension QueryPlan: CustomStringConvertible {
    public var description: String {
        var lines = ["fetch \(entity)", "  access: \(access)"]
        lines.append("  pushed down: \(pushedDown.isEmpty ? "nothing" : pushedDown.joined(separator: "; "))")
        lines.append("  remainder: \(remainder.isEmpty ? "nothing" : remainder.joined(separator: "; "))")
        if let rowsExamined, let rowsReturned { lines.append("  rows: \(rowsExamined) examined, \(rowsReturned) returned") }
        lines += engine.map { "  engine: \($0)" }
        return lines.joined(separator: "\n")
    }
}

extension QueryPlan {
    /// The plan of a request that is ordered by more than fields, made of the plan of ``FetchRequest/unsorted``: sorting and slicing remain.
    public func sorted(for request: FetchRequest) -> QueryPlan {
        var plan = self
        plan.remainder += Scan.Remainder(sort: true, slice: true).described(for: request)
        plan.rowsReturned = rowsReturned.map { min(max(0, $0 - request.offset), request.limit ?? .max) }
        return plan
    }
}

extension ReadTransaction {
    /// Carries any request out and tells how, the orders included that backends do not meet.
    public func explained(_ request: FetchRequest) throws -> QueryPlan {
        guard request.hasComputedKeys else { return try explain(request) }
        try request.validate()
        var plan = try explain(request.unsorted)
        plan.remainder += Scan.Remainder(sort: true, slice: true).described(for: request)
        let all = plan.rowsReturned ?? 0
        plan.rowsReturned = max(0, min(request.limit ?? .max, all - request.offset))
        return plan
    }

    /// Without better knowledge: what `scan` leaves undone.
    public func plan(_ request: FetchRequest) throws -> QueryPlan {
        try request.validate()
        if request.hasComputedKeys { return try plan(request.unsorted).sorted(for: request) }
        let scan = try scan(request)
        scan.cursor.close()
        return QueryPlan(
            entity: request.entity.name, accesses: [QueryPlan.Access(.scan)], remainder: scan.remainder.described(for: request))
    }

    /// Carries a request out and counts.
    public func explain(_ request: FetchRequest) throws -> QueryPlan {
        var plan = try plan(request)
        let cursor = try fetch(request)
        defer { cursor.close() }
        var returned = 0
        while try cursor.next() { returned += 1 }
        plan.rowsExamined = cursor.rowsExamined
        plan.rowsReturned = returned
        return plan
    }
}
