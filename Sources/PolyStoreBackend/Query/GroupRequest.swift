/// Groups of objects and values worked out over them, with a condition on these, an order and a slice: what ``ReadTransaction/groups(_:)`` carries
/// out on every backend.
///
/// It is to ``AggregateRequest`` as an order by computed keys is to one by fields: groups and operands may be any expressions, and what backends
/// are asked is what they all know.
public struct GroupRequest: Sendable {
    public let entity: Entity
    public var predicate = QueryPredicate.all
    /// Without any there is exactly one group, even of nothing.
    public let groupBy: [QueryExpression]
    public let aggregates: [Aggregate]
    /// The columns of the answer as the fields of a record: a value for each of ``groupBy``, then one for each of ``aggregates``. Numbers have the widest
    /// type of their kind. What ``having`` and ``sortKeys`` ask about.
    public let columns: Entity
    /// Which groups are wanted; a condition on ``columns``.
    public var having = QueryPredicate.all
    /// Fields of ``columns``, or expressions of them. Ties are broken by the groups' values, ascending, null first, which without any key is the
    /// whole order.
    public var sortKeys: [SortKey] = []
    /// At most so many groups; nil: all.
    public var limit: Int?
    /// So many groups are left out at the start.
    public var offset = 0
    /// See ``FetchRequest/ignoresIndexes``.
    public var ignoresIndexes = false

    /// - Parameter names: of the columns, for conditions and errors; where there is none it is what the expression says.
    /// - Throws: `invalidPredicate` for more columns than a record has fields.
    public init(_ entity: Entity, groupBy: [QueryExpression] = [], aggregates: [Aggregate], names: [String] = []) throws {
        self.entity = entity
        self.groupBy = groupBy
        self.aggregates = aggregates
        let names = names + (groupBy.map(\.description) + aggregates.map(\.description)).dropFirst(names.count)
        columns = try Entity(
            columnsOf: entity, names, groupBy.map(\.type) + aggregates.map(\.type), relationships: groupBy.map(entity.target))
    }

    /// The fetch that gives the rows, with the fields that are needed and no others.
    public var source: FetchRequest {
        var fields = FieldMask()
        for expression in groupBy + aggregates.compactMap(\.operand) { expression.collectFields(into: &fields) }
        var request = FetchRequest(entity, predicate: predicate, fields: fields)
        request.ignoresIndexes = ignoresIndexes
        return request
    }

    /// What a backend can be asked, where nothing but fields is looked at.
    var plain: AggregateRequest? {
        let fields = groupBy.compactMap(\.asField)
        guard fields.count == groupBy.count, aggregates.allSatisfy(\.isPlain) else { return nil }
        var request = AggregateRequest(entity, predicate: predicate, groupBy: fields, aggregates: aggregates)
        request.ignoresIndexes = ignoresIndexes
        return request
    }

    /// Checks what a caller can get wrong.
    /// - Throws: `invalidPredicate`.
    public func validate() throws {
        try source.validate()
        for expression in groupBy { try expression.validate(for: entity) }
        for aggregate in aggregates { try aggregate.validate(for: entity) }
        // The answer is asked as if it were fetched.
        try FetchRequest(columns, predicate: having, sortKeys: sortKeys, limit: limit, offset: offset).validate()
    }
}

extension Entity {
    /// The relationship whose target's id an expression is.
    fileprivate func target(of expression: QueryExpression) -> Relationship? {
        guard let field = expression.asField, !field.isObjectID, fields.indices.contains(field.ordinal) else { return nil }
        return fields[field.ordinal].relationship.map { relationships[$0] }
    }

    /// An entity that no schema has, for records of values that were worked out.
    /// - Parameters:
    ///   - names: made unlike each other where they are not.
    ///   - targets: of the first fields, the relationships whose targets' ids they hold.
    convenience init(columnsOf entity: Entity, _ names: [String], _ types: [AttributeType], relationships targets: [Relationship?] = [])
        throws
    {
        guard types.count <= FieldMask.capacity else {
            throw StoreError(
                .invalidPredicate, "\(types.count) values are asked for at once; \(FieldMask.capacity) is the limit.", entity: entity.name)
        }
        var taken: Set<String> = []
        var fields: [Field] = []
        var relationships: [Relationship] = []
        for (ordinal, type) in types.enumerated() {
            var name = names[ordinal]
            while !taken.insert(name).inserted { name += "'" }
            let target = targets.indices.contains(ordinal) ? targets[ordinal] : nil
            fields.append(
                Field(
                    ordinal: ordinal, name: name, type: type.widest, isOptional: true,
                    relationship: target == nil ? nil : relationships.count,
                    defaultValue: nil))
            guard let target else { continue }
            relationships.append(
                Relationship(
                    ordinal: relationships.count, name: name, source: entity.index, destination: target.destination, isToMany: false,
                    isOrdered: false, deleteRule: .noAction, isRequired: false, minCount: 0, maxCount: nil, inverse: nil,
                    storage: .foreignKey(field: ordinal), positionField: nil))
        }
        self.init(
            index: entity.index, description: EntityDescription(name: entity.name, properties: []), fields: fields,
            relationships: relationships, indexes: [])
    }
}

extension AttributeType {
    /// The type that holds every value that can be calculated of this one.
    fileprivate var widest: AttributeType {
        switch self {
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32: .int64
        case .float: .double
        default: self
        }
    }
}
