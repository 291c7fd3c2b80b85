import PolyStoreBackend
import PolyStoreSearch

extension SchemaChange {
    /// Returns the source entity and the names of its fields whose texts a full-text index of the target has unchanged; nil if the migration changes them, so that the index is built again.
    package func searchOrigin(of index: SearchIndex, _ entity: Entity) -> (entity: Entity, fields: [String])? {
        guard case .carried(let before, let parts) = entities[entity.index] else { return nil }
        let old = source.entities[before]
        var names: [String] = []
        for field in index.fields {
            guard case .field(let field, let replacement) = parts[field], old.fields[field].type == .string,
                replacement.isNull || !old.fields[field].isOptional
            else { return nil }
            names.append(old.fields[field].name)
        }
        return (old, names)
    }
}
