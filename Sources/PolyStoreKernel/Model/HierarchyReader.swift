import PolyStoreBackend

/// Resolves the classes of a hierarchy into one entity.
struct HierarchyReader {
    /// The classes, depth first, beginning with the root.
    private(set) var types: [any Model.Type] = []
    /// The first indexes of each class's own properties.
    private(set) var firstIndexes: [ModelFirstIndexes] = []
    private(set) var problem: StoreError?
    private var fields = 0
    private var relationships = 0
    private var properties: [PropertyDescription] = []
    private var indexes: [IndexDescription] = []
    private var searchIndexes: [SearchIndexDescription] = []
    private var subentities: [SubentityDescription] = []
    /// The class that declares a property, by the lowercase name of the property.
    private var owners: [String: (type: any Model.Type, name: String)] = [:]
    private var names: Set<String> = []

    var entity: EntityDescription {
        let root = types[0]._$entity
        let classifier = AttributeDescription(name: EntityHierarchy.classifier, type: .string, isIndexed: true)
        return EntityDescription(
            name: root.name, originalName: root.originalName, properties: properties + [.attribute(classifier)],
            indexes: indexes, searchIndexes: searchIndexes,
            hierarchy: EntityHierarchy(
                isAbstract: types[0]._$inheritance.isAbstract, properties: root.properties.map(\.name), subentities: subentities))
    }

    mutating func read(_ type: any Model.Type, parent: Int?) {
        let inheritance = type._$inheritance
        let own = type._$entity
        if types.contains(where: { $0 == type }) { return refuse(type, "\(type) is listed twice in its hierarchy.") }
        if let parent, inheritance.superentity.map({ $0 != types[parent] }) ?? true {
            refuse(
                type,
                "\(types[parent]) lists \(type) among its subentities, but \(type) \(inheritance.superentity.map { "inherits from \($0): list each class where it inherits from" } ?? "does not say that it inherits from a model: mark it with @Model")."
            )
        }
        if inheritance.isAbstract, inheritance.subentities.isEmpty {
            refuse(type, "\(type) is abstract and lists no subentities, so there could be no object of it.")
        }
        if !names.insert(own.name.lowercased()).inserted {
            refuse(type, "Two entities of the hierarchy are called \(own.name); give \(type) another name with `entity:`.")
        }
        let index = types.count
        types.append(type)
        firstIndexes.append(ModelFirstIndexes(field: fields, relationship: relationships))
        for property in own.properties { add(property, of: type, isRoot: parent == nil) }
        indexes += own.indexes
        searchIndexes += own.searchIndexes
        if let parent {
            subentities.append(
                SubentityDescription(
                    name: own.name, originalName: own.originalName, parent: types[parent]._$entity.name, isAbstract: inheritance.isAbstract,
                    properties: own.properties.map { $0.name }, required: own.properties.filter(\.isRequired).map { $0.name }))
        }
        for below in inheritance.subentities { read(below, parent: index) }
    }

    private mutating func add(_ property: PropertyDescription, of type: any Model.Type, isRoot: Bool) {
        let name = property.name
        if name.lowercased() == EntityHierarchy.classifier {
            refuse(
                type, "\(type).\(name) has the name under which a hierarchy keeps the entity of each object; give it another `name:`.", name
            )
        }
        if let other = owners.updateValue((type, name), forKey: name.lowercased()), other.type != type {
            refuse(
                type,
                "\(other.type).\(other.name) and \(type).\(name) belong to one hierarchy, which a store keeps as one entity; give one of them another `name:`.",
                name)
        }
        switch property {
        case .attribute(var attribute):
            // Objects of other classes do not have the attribute.
            if !isRoot { attribute.isOptional = true }
            properties.append(.attribute(attribute))
            fields += 1
        case .relationship(let relationship):
            properties.append(property)
            relationships += 1
            if !relationship.isToMany { fields += 1 }
        }
    }

    private mutating func refuse(_ type: any Model.Type, _ message: String, _ property: String? = nil) {
        if problem == nil { problem = StoreError(.invalidSchema, message, entity: type._$entityName, attribute: property) }
    }
}

extension PropertyDescription {
    /// A Boolean value that indicates whether the property must have a value.
    fileprivate var isRequired: Bool {
        switch self {
        case .attribute(let attribute): !attribute.isOptional
        case .relationship(let relationship): relationship.isRequired && !relationship.isToMany
        }
    }
}
