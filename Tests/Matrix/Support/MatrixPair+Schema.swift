package import PolyStoreBackend
package import PolyStoreCore

extension MatrixPair {
    /// Returns the declarations of a version.
    package func entities(_ version: Version) -> MatrixEntities {
        var entities = MatrixEntities()
        let name = AttributeDescription(name: "name", type: .int64)
        entities.left = EntityDescription(name: "Left", properties: [.attribute(name)])
        entities.right = EntityDescription(
            name: version.rightEntity, originalName: version.rightEntityOriginal, properties: [.attribute(name)])
        if let property = left(version), version.isInLeaf {
            entities.leaf = EntityDescription(name: "Leaf", properties: [property])
        } else {
            if let property = left(version) { entities.left.properties.append(property) }
            if isHierarchy { entities.leaf = EntityDescription(name: "Leaf", properties: []) }
        }
        if version.right.isRelationship {
            entities.right.properties.append(
                .relationship(
                    RelationshipDescription(
                        name: version.rightName, originalName: version.rightOriginal, destination: "Left",
                        isToMany: !version.right.isToOne, isOrdered: version.right == .ordered,
                        inverse: version.isLinked ? version.leftName : nil)))
        }
        return entities
    }

    private func left(_ version: Version) -> PropertyDescription? {
        switch version.left {
        case .none: nil
        case .attribute:
            .attribute(
                AttributeDescription(
                    name: version.leftName, type: .int64, isOptional: !version.isRequired, isUnique: version.isUnique,
                    originalName: version.leftOriginal))
        default:
            .relationship(
                RelationshipDescription(
                    name: version.leftName, originalName: version.leftOriginal,
                    destination: version.left.isSymmetric ? "Left" : version.rightEntity, isToMany: !version.left.isToOne,
                    isOrdered: version.left == .ordered,
                    inverse: version.left.isSymmetric ? version.leftName : version.isLinked ? version.rightName : nil,
                    isRequired: version.isRequired, minCount: version.counts?.lowerBound ?? 0,
                    maxCount: version.counts.flatMap { $0.upperBound == 9 ? nil : $0.upperBound }))
        }
    }

    /// Writes a store of the old version.
    package func fill(_ store: StoreConfiguration, _ description: SchemaDescription) throws {
        let schema = try ResolvedSchema(description)
        let backend = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
        defer { try? backend.close() }
        guard let left = schema.entity(named: "Left"), let right = schema.entity(named: old.rightEntity) else { return }
        let writer = try backend.beginWrite()
        let changes = ChangeSet(schema)
        if leftCount > 0 { _ = try writer.reserveIDs(left, count: leftCount) }
        if rightCount > 0 { _ = try writer.reserveIDs(right, count: rightCount) }
        for id in leftIDs {
            try insert(id, left, leftTargets, rightTargets, old.leftName, right.relationship(named: old.rightName), changes)
        }
        for id in rightIDs {
            try insert(id, right, rightTargets, leftTargets, old.rightName, left.relationship(named: old.leftName), changes)
        }
        addLinks(left.relationship(named: old.leftName), leftTargets, rightTargets, changes)
        if !old.isLinked { addLinks(right.relationship(named: old.rightName), rightTargets, [:], changes) }
        try writer.apply(changes)
        _ = try writer.commit(.full)
    }

    private func insert(
        _ id: Int64, _ entity: Entity, _ targets: [Int64: [Int64]], _ back: [Int64: [Int64]], _ name: String, _ other: Relationship?,
        _ changes: ChangeSet
    ) throws {
        try changes.insert(entity, rowID: id) { builder in
            for field in entity.fields {
                if field.isHidden {
                    guard let owner = targets[id]?.first, let position = back[owner]?.firstIndex(of: id) else { continue }
                    try builder.set(field, .integer(Int64(position)))
                } else if field.index == entity.classifierField {
                    try builder.set(field, .text(isLeaf(id) ? "Leaf" : "Left"))
                } else if field.relationship != nil {
                    if let target = targets[id]?.first { try builder.set(field, .integer(target)) }
                } else if field.name == "name" {
                    try builder.set(field, .integer(id))
                } else if let value = values[id] {
                    try builder.set(field, .integer(value))
                }
            }
        }
    }

    private func addLinks(
        _ relationship: Relationship?, _ targets: [Int64: [Int64]], _ back: [Int64: [Int64]], _ changes: ChangeSet
    ) {
        guard let relationship, case .link(let table, let isReversed) = relationship.storage else { return }
        for (id, list) in targets {
            for (position, target) in list.enumerated() {
                let (mine, theirs) = (Int64(position), back[target]?.firstIndex(of: id).map(Int64.init))
                changes.link(
                    ChangeSet.LinkChange(
                        table: table, source: isReversed ? target : id, target: isReversed ? id : target, isAddition: true,
                        targetPosition: isReversed ? theirs : mine, sourcePosition: isReversed ? mine : theirs))
            }
        }
    }
}

extension MatrixPair {
    /// The policy of the migration.
    package var policy: MigrationPolicy { allowsLoss ? .lightweight.allowingLostLinks() : .lightweight }
}
