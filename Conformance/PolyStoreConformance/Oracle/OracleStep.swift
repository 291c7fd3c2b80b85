import PolyStoreBackend

/// One thing that a case does to a store. Plain values: steps can be left out, and what is left still means something.
enum OracleStep {
    /// One change set, of a write transaction that begins here unless one is under way.
    case apply([OracleEdit])
    case commit
    case rollback
    case reserveIDs(entity: Int, count: Int)
    /// Opens a read transaction that is kept; the one kept before ends.
    case hold
    /// Closes the store and opens it again.
    case reopen
    case ask(OracleReader, OracleQuery)
}

/// What a change set is drawn as. References to objects that are not there are left out when it is made, and deletions clear what refers to the
/// deleted object, as both is the caller's part.
enum OracleEdit {
    case insert(entity: Int, id: Int64, row: [Value])
    case update(entity: Int, id: Int64, fields: [Int: Value])
    case delete(entity: Int, id: Int64)
    case link(table: Int, source: Int64, target: Int64, isAddition: Bool, places: (target: Int64?, source: Int64?))
}

/// Who answers.
enum OracleReader: String {
    case latest
    /// The write transaction; where none is under way, a new reader.
    case writer
    /// The read transaction that is kept; where none is, a new one.
    case held
}

enum OracleQuery {
    case fetch(FetchRequest)
    /// Walks over several requests, a row of each in turn.
    case interleaved([FetchRequest])
    /// Carried out and told about.
    case explain(FetchRequest)
    case count(FetchRequest)
    case aggregate(AggregateRequest)
    case related(Relationship, [Int64])
    case record(Entity, Int64)
    /// Fetched, and its negation.
    case compared(OracleComparison)
    /// What every store must refuse, whichever way it is asked.
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
