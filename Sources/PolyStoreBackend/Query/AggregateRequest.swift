/// A request for aggregates over the objects that a predicate selects, for each group of objects with equal values of some expressions, with a condition on
/// the groups, an order and a slice. Aggregates ignore null values, except `count` of objects. Null forms one group.
///
/// `ReadTransaction.aggregate(_:)` executes it on every backend. A backend can compute the groups itself: see ``ReadTransaction/scanGroups(_:)``.
public struct AggregateRequest: Sendable, Hashable {
    /// The entity of the objects.
    public var entity: Entity
    /// The predicate that selects the objects.
    public var predicate: QueryPredicate
    /// The grouping expressions. If empty, the result is exactly one group, even for no objects.
    public var groupBy: [QueryExpression]
    /// The aggregates to compute for each group.
    public var aggregates: [Aggregate]
    /// The names of the columns of the result, for conditions and errors; the default is the description of the expression.
    public var names: [String]
    /// The condition that groups must satisfy, on the fields of ``columns()``.
    public var having = QueryPredicate.all
    /// The sort keys: fields of ``columns()`` or expressions of them. Ties are broken by the group values in ascending order, null first. The same
    /// order applies without keys.
    public var sortKeys: [SortKey] = []
    /// The maximum number of groups; nil for no limit.
    public var limit: Int?
    /// The number of groups to skip.
    public var offset = 0
    /// See ``FetchRequest/ignoresIndexes``.
    public var ignoresIndexes = false

    /// Creates a request.
    /// - Parameters:
    ///   - entity: The entity whose objects are grouped.
    ///   - predicate: The predicate that selects the objects.
    ///   - groupBy: The expressions that form the groups; without any, all objects form one group.
    ///   - aggregates: The aggregates of each group.
    ///   - names: The column names.
    public init(
        _ entity: Entity, predicate: QueryPredicate = .all, groupBy: [QueryExpression] = [], aggregates: [Aggregate], names: [String] = []
    ) {
        self.entity = entity
        self.predicate = predicate
        self.groupBy = groupBy
        self.aggregates = aggregates
        self.names = names
    }

    /// Creates a request whose groups are formed by fields.
    public init(_ entity: Entity, predicate: QueryPredicate = .all, groupBy fields: [FieldReference], aggregates: [Aggregate]) {
        self.init(entity, predicate: predicate, groupBy: fields.map { .field($0) }, aggregates: aggregates)
    }

    /// The grouping fields, if all groups and operands are plain fields; otherwise nil.
    public var fieldGroups: [FieldReference]? {
        let fields = groupBy.compactMap(\.asField)
        return fields.count == groupBy.count && aggregates.allSatisfy(\.isPlain) ? fields : nil
    }

    /// The fetch request for the rows, limited to the fields that the expressions use.
    public var source: FetchRequest {
        var fields = FieldMask()
        for expression in groupBy { expression.collectFields(into: &fields) }
        for aggregate in aggregates { aggregate.operand?.collectFields(into: &fields) }
        var request = FetchRequest(entity, predicate: predicate, fields: fields)
        request.ignoresIndexes = ignoresIndexes
        return request
    }

    /// The request for all groups in ascending order, without the condition on groups, the order and the slice.
    public var allGroups: AggregateRequest {
        var request = self
        (request.having, request.sortKeys, request.limit, request.offset) = (.all, [], nil, 0)
        return request
    }

    /// Returns the columns of the result as the fields of a record: a value for each of ``groupBy``, then one for each of ``aggregates``. Numbers have
    /// the widest type of their kind. ``having`` and ``sortKeys`` refer to these fields.
    /// - Throws: `invalidPredicate` if there are more columns than a record can have fields.
    public func columns() throws -> Entity {
        let names = names + (groupBy.map(\.description) + aggregates.map(\.description)).dropFirst(names.count)
        return try Entity(
            columnsOf: entity, names, groupBy.map(\.type) + aggregates.map(\.type), relationships: groupBy.map(entity.target))
    }

    /// Checks the request for errors of the caller.
    /// - Throws: `invalidPredicate`.
    public func validate() throws {
        try source.validate()
        for expression in groupBy { try expression.validate(for: entity) }
        for aggregate in aggregates { try aggregate.validate(for: entity) }
        // Validates the conditions on the result as a fetch request.
        let result = having == .all && sortKeys.isEmpty ? entity : try columns()
        try FetchRequest(result, predicate: having, sortKeys: sortKeys, limit: limit, offset: offset).validate()
    }
}

/// A group in the result of an ``AggregateRequest``.
public struct AggregateRow: Sendable, Hashable {
    /// The values of ``AggregateRequest/groupBy``.
    public var group: [Value]
    /// The values of ``AggregateRequest/aggregates``.
    public var values: [Value]

    /// Creates a row.
    public init(group: [Value], values: [Value]) {
        self.group = group
        self.values = values
    }
}
