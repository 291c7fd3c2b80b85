/// A sort key.
public struct SortKey: Sendable, Hashable {
    /// The position of null values in the order. By default, null is the smallest value.
    public enum NullPlacement: String, Sendable, Hashable {
        /// Before all values in ascending order, after all values in descending order.
        case smallest
        /// Before all values in both orders.
        case first
        /// After all values in both orders.
        case last
    }

    /// The field to sort by.
    public var field: FieldReference
    /// A Boolean value that indicates whether the order is ascending.
    public var ascending: Bool
    /// The position of null values.
    public var nulls: NullPlacement

    /// The sort expression, if it is more than a field; ``field`` is then only a name. Scans do not receive such keys: `ReadTransaction.fetch(_:)`
    /// sorts by them. Only the backends of this package receive those that are components of indexes. A backend that implements plans returns the plan of `FetchRequest.unsorted`, completed by `QueryPlan.sorted(for:)`.
    public var expression: QueryExpression?

    /// Creates a key that sorts by a field.
    public init(_ field: FieldReference, ascending: Bool = true, nulls: NullPlacement = .smallest) {
        self.field = field
        self.ascending = ascending
        self.nulls = nulls
    }

    /// Creates a key that sorts by a value computed for each object.
    public init(_ expression: QueryExpression, ascending: Bool = true, nulls: NullPlacement = .smallest) {
        self.init(
            expression.asField ?? FieldReference(index: -1, name: "\(expression)", type: expression.type), ascending: ascending,
            nulls: nulls)
        if expression.asField == nil { self.expression = expression }
    }

    /// A Boolean value that indicates whether null precedes every value in the result.
    public var nullsComeFirst: Bool {
        switch nulls {
        case .smallest: ascending
        case .first: true
        case .last: false
        }
    }
}

/// A request for the objects of one entity that satisfy a predicate, with an order and a slice.
public struct FetchRequest: Sendable, Hashable {
    /// The entity of the objects.
    public var entity: Entity
    /// The predicate that selects the objects.
    public var predicate: QueryPredicate
    /// The sort keys. Ties are broken by ascending row id, which alone applies without keys.
    public var sortKeys: [SortKey]
    /// The maximum number of rows; nil for no limit.
    public var limit: Int?
    /// The number of rows to skip.
    public var offset: Int
    /// A Boolean value that indicates whether only ids are read. The records of the cursor may then have no fields.
    public var onlyIDs: Bool
    /// The fields to read; the values of other fields may be null. nil for all fields.
    public var fields: FieldMask?
    /// A Boolean value that indicates whether the request is answered without indexes, to verify indexes against the records. The result is the same.
    public var ignoresIndexes = false
    /// A Boolean value that indicates whether the plan of the request is that of a count of its rows. Set in requests for plans only.
    package var isCount = false

    /// The request whose plan is that of a count of the rows.
    package var counting: FetchRequest {
        var request = self
        request.sortKeys = []
        request.onlyIDs = true
        request.isCount = true
        return request
    }

    /// Creates a request.
    public init(
        _ entity: Entity, predicate: QueryPredicate = .all, sortKeys: [SortKey] = [], limit: Int? = nil, offset: Int = 0,
        onlyIDs: Bool = false, fields: FieldMask? = nil
    ) {
        self.entity = entity
        self.predicate = predicate
        self.sortKeys = sortKeys
        self.limit = limit
        self.offset = offset
        self.onlyIDs = onlyIDs
        self.fields = fields
    }

    /// A Boolean value that indicates whether the predicate or a sort key refers to related objects.
    public var needsRelated: Bool { predicate.needsRelated || sortKeys.contains { $0.expression?.needsRelated ?? false } }

    /// The maximum nesting depth of a predicate.
    public static let maximumDepth = 200

    /// Checks the request for errors of the caller.
    /// - Throws: `invalidPredicate`.
    public func validate() throws {
        guard offset >= 0, limit.map({ $0 >= 0 }) ?? true else {
            throw StoreError(
                .invalidPredicate, "A limit of \(limit.map(String.init) ?? "none") with an offset of \(offset): neither may be negative.",
                entity: entity.name)
        }
        try checkDepth(predicate.depth(upTo: Self.maximumDepth + 1), "condition")
        for key in sortKeys { try checkDepth(key.expression?.depth(upTo: Self.maximumDepth + 1) ?? 0, "sort key") }
        try predicate.validate(for: entity)
        for key in sortKeys { try key.expression.map { try $0.validate(for: entity) } ?? entity.check(key.field) }
    }

    private func checkDepth(_ depth: Int, _ what: String) throws {
        guard depth > Self.maximumDepth else { return }
        throw StoreError(
            .invalidPredicate, "The \(what) is nested too deeply; \(Self.maximumDepth) levels are the limit.", entity: entity.name)
    }
}
