import PolyStoreBackend

/// One operation of a case on a store. Steps are plain values: a list with some of them removed is still valid.
enum OracleStep {
    /// Applies a change set in the open write transaction, or in a new one.
    case apply([OracleEdit])
    case commit
    case rollback
    case reserveIDs(entity: Int, count: Int)
    /// Opens a read transaction and holds it; the previously held one ends.
    case hold
    /// Closes the store and opens it again.
    case reopen
    case ask(OracleReader, OracleQuery)
}

/// An edit of a change set. When it is applied, references to missing objects are removed, and deletions clear references to the deleted object, because both
/// are the caller's responsibility.
enum OracleEdit {
    case insert(entity: Int, id: Int64, row: [Value])
    case update(entity: Int, id: Int64, fields: [Int: Value])
    case delete(entity: Int, id: Int64)
    case link(table: Int, source: Int64, target: Int64, isAddition: Bool, places: (target: Int64?, source: Int64?))
}

/// The transaction that runs a query.
enum OracleReader: String {
    case latest
    /// The write transaction; a new reader if there is none.
    case writer
    /// The held read transaction; a new one if there is none.
    case held
}

enum OracleQuery {
    case fetch(FetchRequest)
    /// Cursors over several requests, read alternately.
    case interleaved([FetchRequest])
    /// Executed and explained.
    case explain(FetchRequest)
    case count(FetchRequest)
    case aggregate(AggregateRequest)
    case related(Relationship, [Int64])
    case record(Entity, Int64)
    /// Fetched, together with its negation.
    case compared(OracleComparison)
    /// A request that every store must reject, in every form.
    case refused(FetchRequest)
}

extension OracleStep: CustomStringConvertible {
    var description: String {
        switch self {
        case .apply(let edits): "apply " + edits.map(\.description).joined(separator: ", ")
        case .commit: "commit"
        case .rollback: "rollback"
        case .reserveIDs(let entity, let count): "reserve \(count) ids of E\(entity)"
        case .hold: "hold a reader"
        case .reopen: "reopen"
        case .ask(let reader, let query): (["ask \(reader.rawValue) \(query)"] + query.code).joined(separator: "\n     ")
        }
    }
}

extension OracleEdit: CustomStringConvertible {
    var description: String {
        switch self {
        case .insert(let entity, let id, let row): "insert E\(entity) \(id) (\(row.map(\.literal).joined(separator: ", ")))"
        case .update(let entity, let id, let fields):
            "update E\(entity) \(id) (\(fields.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value.literal)" }.joined(separator: ", ")))"
        case .delete(let entity, let id): "delete E\(entity) \(id)"
        case .link(let table, let source, let target, let isAddition, let places):
            "\(isAddition ? "link" : "unlink") \(source) and \(target) in table \(table)"
                + (places.target.map { " target at \($0)" } ?? "") + (places.source.map { " source at \($0)" } ?? "")
        }
    }
}

extension OracleQuery: CustomStringConvertible {
    var description: String {
        switch self {
        case .fetch(let request): "fetch \(Self.described(request))"
        case .interleaved(let requests): "fetch in turn \(requests.map(Self.described).joined(separator: " and "))"
        case .explain(let request): "explain \(Self.described(request))"
        case .count(let request): "count \(Self.described(request))"
        case .aggregate(let request):
            "\(request.aggregates.map(\.description).joined(separator: ", ")) of \(request.entity.name) where \(request.predicate)"
                + " by (\(request.groupBy.map(\.name).joined(separator: ", ")))"
        case .related(let relationship, let sources): "related E\(relationship.source).\(relationship.name) of \(sources)"
        case .record(let entity, let id): "record \(entity.name) \(id)"
        case .compared(let comparison): "fetch \(comparison), and not"
        case .refused(let request): "refuse \(Self.described(request))"
        }
    }

    private static func described(_ request: FetchRequest) -> String {
        var text = "\(request.entity.name) where \(request.predicate)"
        if !request.sortKeys.isEmpty {
            let keys = request.sortKeys.map { "\($0.field.name) \($0.ascending ? "up" : "down") nulls \($0.nulls.rawValue)" }
            text += " order by \(keys.joined(separator: ", "))"
        }
        if let limit = request.limit { text += " limit \(limit)" }
        if request.offset > 0 { text += " offset \(request.offset)" }
        if request.onlyIDs { text += " only ids" }
        if let fields = request.fields { text += " fields \(fields.ordinals)" }
        return text
    }
}
