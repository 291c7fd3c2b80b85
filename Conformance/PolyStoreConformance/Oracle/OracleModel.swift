import PolyStoreBackend

/// The expected contents of a store: rows in dictionaries. Shares no code with the framework's planner, evaluator, sort or encoding.
struct OracleModel {
    struct Pair: Hashable {
        let source: Int64
        let target: Int64
    }

    /// The positions of both ends of a pair in each other's lists.
    struct LinkPositions: Hashable {
        var target: Int64 = 0
        var source: Int64 = 0
    }

    struct ObjectKey: Hashable {
        let entity: Int
        let id: Int64
    }

    let schema: ResolvedSchema
    /// The rows, by entity and id.
    var rows: [[Int64: [Value]]]
    /// The links, by link table.
    var links: [[Pair: LinkPositions]]
    /// The results of full-text searches, shared by all copies.
    let searches = OracleSearches()

    init(_ schema: ResolvedSchema) {
        self.schema = schema
        rows = schema.entities.map { _ in [:] }
        links = schema.links.map { _ in [:] }
    }

    /// Returns the pairs of a table, in order.
    func pairs(_ table: LinkTable) -> [Pair] {
        links[table.index].keys.sorted { ($0.source, $0.target) < ($1.source, $1.target) }
    }

    func ids(_ entity: Int) -> [Int64] { rows[entity].keys.sorted() }
}
