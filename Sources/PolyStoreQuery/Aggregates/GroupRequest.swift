import PolyStoreBackend

/// A request for groups of objects and aggregates over them, with a condition on the groups, an order and a slice.
/// `ReadTransaction.groups(_:)` executes it on every backend.
///
/// In contrast to `AggregateRequest`, groups and operands can be any expressions. Backends only receive the part that all of them support.
public struct GroupRequest: Sendable {
    /// The entity of the objects.
    public let entity: Entity
    /// The predicate that selects the objects.
    public var predicate = QueryPredicate.all
    /// The grouping expressions. If empty, the result is exactly one group, even for no objects.
    public let groupBy: [QueryExpression]
    /// The aggregates of each group.
    public let aggregates: [Aggregate]
    /// The columns of the result as the fields of a record: a value for each of ``groupBy``, then one for each of ``aggregates``. Numbers have the
    /// widest type of their kind. ``having`` and ``sortKeys`` refer to these fields.
    public let columns: Entity
    /// The condition that groups must satisfy, on the fields of ``columns``.
    public var having = QueryPredicate.all
    /// The sort keys: fields of ``columns`` or expressions of them. Ties are broken by the group values in ascending order, null first. The same
    /// order applies without keys.
    public var sortKeys: [SortKey] = []
    /// The maximum number of groups; nil for no limit.
    public var limit: Int?
    /// The number of groups to skip.
    public var offset = 0
    /// See `FetchRequest.ignoresIndexes`.
    public var ignoresIndexes = false

    /// Creates a request.
    /// - Parameters:
    ///   - entity: The entity whose objects are grouped.
    ///   - groupBy: The expressions that form the groups; without any, all objects form one group.
    ///   - aggregates: The aggregates of each group. An operand can be an expression.
    ///   - names: The column names, for conditions and errors; the default is the description of the expression.
    /// - Throws: `invalidPredicate` if there are more columns than a record can have fields.
    public init(_ entity: Entity, groupBy: [QueryExpression] = [], aggregates: [Aggregate], names: [String] = []) throws {
        self.entity = entity
        self.groupBy = groupBy
        self.aggregates = aggregates
        let names = names + (groupBy.map(\.description) + aggregates.map(\.description)).dropFirst(names.count)
        columns = try Entity(
            columnsOf: entity, names, groupBy.map(\.type) + aggregates.map(\.type), relationships: groupBy.map(entity.target))
    }

    /// The fetch request for the rows, limited to the fields that the expressions use.
    public var source: FetchRequest {
        var fields = FieldMask()
        for expression in groupBy + aggregates.compactMap(\.operand) { expression.collectFields(into: &fields) }
        var request = FetchRequest(entity, predicate: predicate, fields: fields)
        request.ignoresIndexes = ignoresIndexes
        return request
    }

    /// The equivalent request for a backend if all expressions are fields; otherwise nil.
    var plain: AggregateRequest? {
        let fields = groupBy.compactMap(\.asField)
        guard fields.count == groupBy.count, aggregates.allSatisfy(\.isPlain) else { return nil }
        var request = AggregateRequest(entity, predicate: predicate, groupBy: fields, aggregates: aggregates)
        request.ignoresIndexes = ignoresIndexes
        return request
    }

    /// Checks the request for errors of the caller.
    /// - Throws: `invalidPredicate`.
    public func validate() throws {
        try source.validate()
        for expression in groupBy { try expression.validate(for: entity) }
        for aggregate in aggregates { try aggregate.validate(for: entity) }
        // Validates the conditions on the result as a fetch request.
        try FetchRequest(columns, predicate: having, sortKeys: sortKeys, limit: limit, offset: offset).validate()
    }
}
