import PolyStoreBackend

/// A class to be written.
struct PlannedClass {
    /// The name of the entity in the store.
    let name: String
    let originalName: String?
    let swiftName: String
    let isAbstract: Bool
    /// The position of the superclass among all classes.
    let parent: Int?
    /// The positions of the direct subclasses.
    var children: [Int] = []
    var properties: [PlannedProperty] = []
    var indexes: [IndexDescription] = []
    var searchIndexes: [SearchIndexDescription] = []
}

/// A property to be written, as its own class declares it.
struct PlannedProperty {
    let description: PropertyDescription
    let swiftName: String
    var name: String { description.name }
    var originalName: String? {
        switch description {
        case .attribute(let attribute): attribute.originalName
        case .relationship(let relationship): relationship.originalName
        }
    }
}

/// The classes of a schema with the names of their properties.
struct ClassPlan {
    private(set) var classes: [PlannedClass] = []
    /// The positions of the classes without a superclass.
    var roots: [Int] { classes.indices.filter { classes[$0].parent == nil } }
    /// The position of the class that declares a property, by entity index and name of the property.
    private var owners: [[String: Int]] = []
    /// The position of the first class of each entity.
    private(set) var firstOfEntity: [Int] = []

    /// - Parameter reserved: Names that classes cannot have.
    init(_ schema: ResolvedSchema, reserved: Set<String>) {
        var typeNames = reserved
        for entity in schema.entities {
            firstOfEntity.append(classes.count)
            add(entity, &typeNames)
        }
        for entity in schema.entities { addProperties(of: entity, typeNames) }
        for entity in schema.entities { addIndexes(of: entity) }
    }

    private mutating func add(_ entity: Entity, _ typeNames: inout Set<String>) {
        let first = classes.count
        for part in entity.classes {
            let parent = part.parent.map { first + $0 }
            if let parent { classes[parent].children.append(classes.count) }
            classes.append(
                PlannedClass(
                    name: part.name, originalName: part.originalName, swiftName: SwiftNames.type(part.name, &typeNames),
                    isAbstract: part.isAbstract, parent: parent))
        }
    }

    private mutating func addProperties(of entity: Entity, _ typeNames: Set<String>) {
        let first = firstOfEntity[entity.index]
        let hierarchy = entity.description.hierarchy
        let byName = Dictionary(entity.description.properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var taken: Set<String> = []
        var owner: [String: Int] = [:]
        for offset in entity.classes.indices {
            let part = offset == 0 ? nil : hierarchy?.subentities[offset - 1]
            let names = part?.properties ?? hierarchy?.properties ?? entity.description.properties.map(\.name)
            for name in names {
                guard let property = byName[name], owner[name] == nil else { continue }
                owner[name] = first + offset
                classes[first + offset].properties.append(
                    PlannedProperty(
                        description: part.map { property.declared(in: $0) } ?? property,
                        swiftName: SwiftNames.property(name, types: typeNames, &taken)))
            }
        }
        owners.append(owner)
    }

    /// Assigns each index to the class that declares the last of its fields.
    private mutating func addIndexes(of entity: Entity) {
        for index in entity.description.indexes {
            let owner = index.fields.compactMap { owners[entity.index][$0] }.max() ?? firstOfEntity[entity.index]
            classes[owner].indexes.append(index)
        }
        for index in entity.description.searchIndexes {
            let owner = index.fields.compactMap { owners[entity.index][$0] }.max() ?? firstOfEntity[entity.index]
            classes[owner].searchIndexes.append(index)
        }
    }

    /// Returns the position of the class that declares a property of an entity.
    func owner(of property: String, entity: Int) -> Int? { owners[entity][property] }

    /// Returns the name in Swift of a property of an entity.
    func swiftName(of property: String, entity: Int) -> String? {
        owner(of: property, entity: entity).flatMap { owner in classes[owner].properties.first { $0.name == property }?.swiftName }
    }
}

extension PropertyDescription {
    /// Returns the property as a class of a hierarchy declares it. In the entity of the hierarchy it is optional, because objects of other classes do not have it.
    fileprivate func declared(in part: SubentityDescription) -> PropertyDescription {
        guard case .attribute(var attribute) = self else { return self }
        attribute.isOptional = !part.required.contains(name)
        return .attribute(attribute)
    }
}
