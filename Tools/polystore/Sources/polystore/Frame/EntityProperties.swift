import BrowserData
import PolyStoreBackend

/// The properties of an entity or subentity, and where paths lead.
struct EntityProperties {
    let schema: SchemaDescription
    let entity: EntityDescription
    /// The name of the entity or subentity.
    let name: String

    init(_ entity: EntityDescription, name: String? = nil, in schema: SchemaDescription) {
        (self.schema, self.entity, self.name) = (schema, entity, name ?? entity.name)
    }

    /// The attributes and relationships in order of declaration, without those of other subentities.
    var properties: [PropertyDescription] {
        guard let hierarchy = entity.hierarchy else { return entity.properties }
        var names = Set(hierarchy.properties)
        var next = hierarchy.subentities.first { $0.name == name }
        while let subentity = next {
            names.formUnion(subentity.properties)
            next = hierarchy.subentities.first { $0.name == subentity.parent }
        }
        return entity.properties.filter { names.contains($0.name) }
    }

    /// A Boolean value that indicates whether objects can be of different entities.
    var hasSubentities: Bool { entity.hierarchy?.subentities.contains { $0.parent == name } ?? false }

    /// Returns the property at the end of a path of names; nil for anything else, such as a calculation.
    func property(at path: String) -> PropertyDescription? { schema.property(at: path, of: entity) }

    /// Returns the type of an attribute, or of a function whose result is one of its values; nil for anything else.
    func type(of term: String) -> AttributeType? { schema.type(of: term, in: entity) }

    /// The attribute that names an object for a reader; nil if the entity has no text.
    var label: String? { EntityModel.label(entity.properties) }
}
