import PolyStoreBackend

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
    /// Executed by the index alone: its statistics, documents, scores and best documents.
    case searched(SearchCondition)
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
                + " by (\(request.groupBy.map(\.description).joined(separator: ", ")))"
        case .related(let relationship, let sources): "related E\(relationship.source).\(relationship.name) of \(sources)"
        case .record(let entity, let id): "record \(entity.name) \(id)"
        case .compared(let comparison): "fetch \(comparison), and not"
        case .searched(let condition): "search \(condition) in \(condition.index.plainName)"
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
        if let fields = request.fields { text += " fields \(fields.indexes)" }
        return text
    }
}
