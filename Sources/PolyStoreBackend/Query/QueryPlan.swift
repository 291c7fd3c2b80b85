import PolyStoreSearch

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The plan of a request and, from ``ReadTransaction/explain(_:)``, its costs. The text and JSON formats are stable.
public struct QueryPlan: Sendable, Hashable, Codable {
    /// An access path to rows.
    public struct Access: Sendable, Hashable, Codable {
        /// The kind of access path.
        public enum Path: String, Sendable, Hashable, Codable {
            /// No access, because the condition cannot be true.
            case nothing
            /// A full scan of the entity's records, in order of their ids.
            case scan
            /// A lookup of records by id or by a range of ids.
            case primaryKey
            /// An index scan between two bounds.
            case search
            /// A scan of a whole index, for its order or because it is covering.
            case index
            /// A full-text search by its index.
            case text
            /// A value from the statistics of the store.
            case statistics
        }

        /// The kind of access path.
        public var path: Path
        /// The name of the index; see ``Index/name``.
        public var index: String?
        /// The bounds of an index scan, without constants: `age>?`, `city=? AND age<?`.
        public var condition: String?
        /// A Boolean value that indicates whether the index contains all needed values, so that records are not read.
        public var isCovering: Bool
        /// A Boolean value that indicates whether the scan runs backward.
        public var isReversed: Bool

        /// Creates an access path.
        public init(_ path: Path, index: String? = nil, condition: String? = nil, isCovering: Bool = false, isReversed: Bool = false) {
            self.path = path
            self.index = index
            self.condition = condition
            self.isCovering = isCovering
            self.isReversed = isReversed
        }
    }

    /// The name of the entity.
    public var entity: String
    /// The access paths; several if each part of an OR has its own.
    public var accesses: [Access]
    /// The parts that the backend executes: the condition, the order, limit and offset.
    public var pushedDown: [String]
    /// The residual parts, which the shared executor applies.
    public var residual: [String]
    /// The plan of the database engine, one entry per line.
    public var engine: [String]
    /// The estimated number of examined rows or index entries; nil if the backend does not estimate.
    public var rowsEstimated: Int?
    /// The number of examined rows or index entries of the entity itself; nil if the request was not executed.
    public var rowsExamined: Int?
    /// The number of rows of related objects that were examined for conditions and sort keys; nil if the request was not executed, if it refers to no related
    /// objects, and if the backend does not count them.
    ///
    /// Each row id of a related object that is read through a relationship counts, and so does each record of a related object. In SQL a related row counts once
    /// where it is found. Rows that the backend examines to find the related objects that satisfy a condition count as well. A value that is computed once for several
    /// rows counts once. Objects that are prefetched or read afterwards are not counted.
    public var relatedRowsExamined: Int?
    /// The costs of the full-text searches by indexes; nil if the request was not executed or contains none.
    public var search: SearchCosts?
    /// The number of returned rows; nil if the request was not executed.
    public var rowsReturned: Int?

    /// Creates a plan.
    public init(entity: String, accesses: [Access], pushedDown: [String] = [], residual: [String] = [], engine: [String] = []) {
        self.entity = entity
        self.accesses = accesses
        self.pushedDown = pushedDown
        self.residual = residual
        self.engine = engine
    }

    /// A Boolean value that indicates whether the plan contains a full scan. A limit may end it early.
    public var isScan: Bool { accesses.contains { $0.path == .scan } }

    /// The number of examined rows of the entity and of related objects; nil if the request was not executed.
    public var allRowsExamined: Int? { rowsExamined.map { $0 + (relatedRowsExamined ?? 0) } }

    /// The access paths as text: `scan`, `primary key (objectID=?)`, `index Person_age (age>?)`, `index Person_age (order)`.
    public var access: String { accesses.map(\.description).joined(separator: " or ") }

    /// The plan as JSON with sorted keys.
    public var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Cannot fail: the plan contains only strings, numbers and Booleans.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

extension QueryPlan.Access: CustomStringConvertible {
    /// The access path as text.
    public var description: String {
        let name: String
        switch path {
        case .nothing: return "nothing"
        case .scan: name = "scan"
        case .primaryKey: name = "primary key"
        case .search: name = "index \(index ?? "?")"
        case .index: name = "index \(index ?? "?") (order)"
        case .text: name = "full-text index \(index ?? "?")"
        case .statistics: return "statistics"
        }
        return (isCovering ? "covering " : "") + name + (condition.map { " (\($0))" } ?? "") + (isReversed ? " reversed" : "")
    }
}

extension QueryPlan: CustomStringConvertible {
    /// The plan as text.
    public var description: String {
        var lines = ["fetch \(entity)", "  access: \(access)"]
        lines.append("  pushed down: \(pushedDown.isEmpty ? "nothing" : pushedDown.joined(separator: "; "))")
        lines.append("  residual: \(residual.isEmpty ? "nothing" : residual.joined(separator: "; "))")
        if let rowsExamined, let rowsReturned {
            lines.append("  rows: \(rowsExamined) examined, \(rowsReturned) returned\(rowsEstimated.map { ", \($0) estimated" } ?? "")")
        } else if let rowsEstimated {
            lines.append("  rows: \(rowsEstimated) estimated")
        }
        if let relatedRowsExamined { lines.append("  related rows: \(relatedRowsExamined) examined") }
        if let search {
            lines.append("  search: \(search.terms) terms, \(search.postings) postings read, \(search.scored) candidates scored")
        }
        lines += engine.map { "  engine: \($0)" }
        return lines.joined(separator: "\n")
    }
}
