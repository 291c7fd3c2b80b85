extension Entity {
    /// Returns the relationship whose destination id is the value of an expression.
    package func target(of expression: QueryExpression) -> Relationship? {
        guard let field = expression.asField, !field.isObjectID, fields.indices.contains(field.index) else { return nil }
        return fields[field.index].relationship.map { relationships[$0] }
    }

    /// Creates an entity outside any schema, for records of computed values.
    /// - Parameters:
    ///   - names: the column names; made unique if they are not.
    ///   - targets: the relationships whose destination ids the first fields hold.
    package convenience init(
        columnsOf entity: Entity, _ names: [String], _ types: [AttributeType], relationships targets: [Relationship?] = []
    )
        throws
    {
        guard types.count <= FieldMask.capacity else {
            throw StoreError(
                .invalidPredicate, "\(types.count) values are selected; \(FieldMask.capacity) is the limit.", entity: entity.name)
        }
        var taken: Set<String> = []
        var fields: [Field] = []
        var relationships: [Relationship] = []
        for (fieldIndex, type) in types.enumerated() {
            var name = names[fieldIndex]
            while !taken.insert(name).inserted { name += "'" }
            let target = targets.indices.contains(fieldIndex) ? targets[fieldIndex] : nil
            fields.append(
                Field(
                    index: fieldIndex, name: name, type: type.widest, isOptional: true,
                    relationship: target == nil ? nil : relationships.count,
                    defaultValue: nil))
            guard let target else { continue }
            relationships.append(
                Relationship(
                    index: relationships.count, name: name, source: entity.index, destination: target.destination, isToMany: false,
                    isOrdered: false, deleteRule: .noAction, isRequired: false, minCount: 0, maxCount: nil, inverse: nil,
                    storage: .foreignKey(field: fieldIndex), positionField: nil))
        }
        self.init(
            index: entity.index, description: EntityDescription(name: entity.name, properties: []), fields: fields,
            relationships: relationships, indexes: [], searchIndexes: [])
    }
}

extension AttributeType {
    /// The widest type of the same kind, which holds every aggregate of this type.
    fileprivate var widest: AttributeType {
        switch self {
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32: .int64
        case .float: .double
        default: self
        }
    }
}
