package import PolyStoreBackend

extension SchemaChange {
    /// Returns a change that keeps the entities, fields and link tables with equal names.
    /// - Parameters:
    ///   - entities: The source names of renamed target entities; "" for an entity without a source.
    ///   - fields: By target entity and field: the origin of a field that does not come from the field of the same name.
    ///   - links: The source names of renamed target link tables.
    package static func byName(
        _ source: ResolvedSchema, _ target: ResolvedSchema, identifier: String = "change", entities: [String: String] = [:],
        fields: [String: [String: SchemaChange.FieldSource]] = [:], links: [String: (name: String, isReversed: Bool)] = [:]
    ) throws -> SchemaChange {
        let parts: [SchemaChange.EntitySource] = target.entities.map { entity in
            let name = entities[entity.name] ?? entity.name
            guard let old = source.entity(named: name) else {
                return .empty(rowIDsOf: source.entity(named: entity.name)?.index)
            }
            return .carried(
                entity: old.index,
                fields: entity.fields.map { field in
                    if let origin = fields[entity.name]?[field.name] { return origin }
                    guard let same = old.fields.first(where: { $0.name == field.name }) else { return .constant(.null) }
                    return .field(same.index, replacingNullWith: .null)
                })
        }
        let tables: [SchemaChange.LinkSource] = target.links.map { table in
            let origin = links[table.name] ?? (table.name, false)
            guard let old = source.links.first(where: { $0.name == origin.name }) else { return .empty }
            return .carried(table: old.index, isReversed: origin.isReversed)
        }
        return try SchemaChange(identifier: identifier, source: source, target: target, entities: parts, links: tables)
    }
}
