package import PolyStoreBackend

/// A change set that is built with names of entities and fields.
package struct Changes {
    package let set: ChangeSet

    package init(_ schema: ResolvedSchema) { set = ChangeSet(schema) }

    private func entity(_ name: String) throws -> Entity {
        guard let entity = set.schema.entity(named: name) else { throw StoreError(.misuse, "Unknown entity \(name).") }
        return entity
    }

    package func insert(_ entity: String, _ id: Int64, _ values: [String: Value] = [:]) throws {
        let entity = try self.entity(entity)
        try set.insert(entity, rowID: id) { builder in for field in entity.fields { try builder.set(field, values[field.name] ?? .null) } }
    }

    package func update(_ entity: String, _ id: Int64, _ values: [String: Value]) throws {
        let entity = try self.entity(entity)
        var mask = FieldMask()
        for field in entity.fields where values[field.name] != nil { mask.insert(field.index) }
        try set.update(entity, rowID: id, mask: mask) { builder in
            for field in entity.fields where mask.contains(field.index) { try builder.set(field, values[field.name] ?? .null) }
        }
    }

    package func delete(_ entity: String, _ id: Int64) throws { set.delete(try self.entity(entity), rowID: id) }

    package func link(_ table: Int, _ source: Int64, _ target: Int64, isAddition: Bool = true) {
        set.link(ChangeSet.LinkChange(table: table, source: source, target: target, isAddition: isAddition))
    }
}
