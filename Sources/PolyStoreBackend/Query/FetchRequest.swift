/// One key of an order.
public struct SortKey: Sendable, Hashable {
    /// Where objects without a value stand. The default is the natural one: null is the smallest value.
    public enum NullPlacement: String, Sendable, Hashable {
        case smallest, first, last
    }

    public var field: FieldReference
    public var ascending: Bool
    public var nulls: NullPlacement

    public init(_ field: FieldReference, ascending: Bool = true, nulls: NullPlacement = .smallest) {
        self.field = field
        self.ascending = ascending
        self.nulls = nulls
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
        guard predicate.depth <= Self.maximumDepth else {
            throw StoreError(
                .invalidPredicate, "The condition is nested \(predicate.depth) deep; \(Self.maximumDepth) is the limit.",
                entity: entity.name)
        }
        try validate(predicate)
        for key in sortKeys { try checkField(key.field) }
    }

    /// That a reference leads to a field of the entity and knows its type: what is read is read without further checks.
    func checkField(_ field: FieldReference) throws {
        if field.isObjectID { return }
        guard field.ordinal < entity.fields.count, entity.fields[field.ordinal].type == field.type else {
            throw StoreError(
                .invalidPredicate, "\(field.name) (\(field.type)) is no field of \(entity.name).", entity: entity.name,
                attribute: field.name)
        }
    }

    private func validate(_ predicate: QueryPredicate) throws {
        switch predicate.node {
        case .constant: break
        case .isNull(let field): try checkField(field)
        case .compare(let field, _, let value):
            try checkField(field)
            try fits(field, value)
        case .compareFields(let left, _, let right):
            try checkField(left)
            try checkField(right)
            guard left.type.physical == right.type.physical, left.isUnsigned == right.isUnsigned else {
                throw StoreError(
                    .invalidPredicate, "\(left.name) (\(left.type)) cannot be compared with \(right.name) (\(right.type)).",
                    entity: entity.name,
                    attribute: left.name)
            }
        case .oneOf(let field, let values):
            try checkField(field)
            for value in values { try fits(field, value) }
        case .text(let field, let operation, _):
            try checkField(field)
            guard field.type.physical == .text else {
                throw StoreError(
                    .invalidPredicate, "\(operation.rawValue) needs text, and \(field.name) is \(field.type).", entity: entity.name,
                    attribute: field.name)
            }
        case .and(let parts), .or(let parts): for part in parts { try validate(part) }
        case .not(let part): try validate(part)
        }
    }

    private func fits(_ field: FieldReference, _ value: Value) throws {
        let fits: Bool
        switch (value, field.type.physical) {
        case (.null, _), (.integer, .integer), (.real, .real), (.text, .text), (.blob, .blob): fits = true
        default: fits = false
        }
        guard fits else {
            throw StoreError(
                .invalidPredicate, "\(field.name) is \(field.type) and cannot be compared with \(value.literal).", entity: entity.name,
                attribute: field.name)
        }
    }
}
