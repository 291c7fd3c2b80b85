/// One key of an order.
public struct SortKey: Sendable, Hashable {
    /// Where objects without a value stand. The default is the natural one: null is the smallest value.
    public enum NullPlacement: String, Sendable, Hashable {
        case smallest, first, last
    }

    public var field: FieldReference
    public var ascending: Bool
    public var nulls: NullPlacement

    /// What is ordered by, where it is more than a field; ``field`` is then only a name. No scan meets such keys: ``ReadTransaction/fetch(_:)`` sorts by
    /// them itself. A backend that makes plans makes that of ``FetchRequest/unsorted``, and ``QueryPlan/sorted(for:)`` of it.
    public var expression: QueryExpression?

    public init(_ field: FieldReference, ascending: Bool = true, nulls: NullPlacement = .smallest) {
        self.field = field
        self.ascending = ascending
        self.nulls = nulls
    }

    /// By a value worked out for each object.
    public init(_ expression: QueryExpression, ascending: Bool = true, nulls: NullPlacement = .smallest) {
        self.init(
            expression.asField ?? FieldReference(ordinal: -1, name: "\(expression)", type: expression.type), ascending: ascending,
            nulls: nulls)
        if expression.asField == nil { self.expression = expression }
    }

    /// Whether null stands before every value in the result.
    public var nullsComeFirst: Bool {
        switch nulls {
        case .smallest: ascending
        case .first: true
        case .last: false
        }
    }
}

/// Which objects of one entity to read, in which order, and how many.
public struct FetchRequest: Sendable, Hashable {
    public var entity: Entity
    public var predicate: QueryPredicate
    /// Ties are broken by the object's id, ascending; without any key that is the whole order.
    public var sortKeys: [SortKey]
    /// At most so many; nil: all.
    public var limit: Int?
    /// So many are left out at the start.
    public var offset: Int
    /// Only ids are wanted: the cursor's records may then be without any field.
    public var onlyIDs: Bool
    /// The only fields whose values are wanted: the others of the cursor's records may then be null. nil: all.
    public var fields: FieldMask?
    /// To be answered from the records alone, as if there were no index: shows whether an index tells the truth. The answer is the same.
    public var ignoresIndexes = false

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

    /// The deepest predicate that is taken.
    public static let maximumDepth = 200

    /// Checks what a caller can get wrong.
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
