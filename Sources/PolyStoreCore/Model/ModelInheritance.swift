import PolyStoreBackend

/// The place of a model class among others: which is above it, which are below.
public struct ModelInheritance: Sendable {
    /// Whether objects belong only to classes below it.
    public let isAbstract: Bool
    /// The model class right above it; nil for the root of a hierarchy, and for a class that stands alone.
    public let superentity: (any Model.Type)?
    /// The model classes right below it: all of them, as a hierarchy is one entity of a store.
    public let subentities: [any Model.Type]

    public init(isAbstract: Bool = false, superentity: (any Model.Type)? = nil, subentities: [any Model.Type] = []) {
        self.isAbstract = isAbstract
        self.superentity = superentity
        self.subentities = subentities
    }
}

/// Where the ordinals of a class's own properties begin in the entity of its hierarchy.
public struct ModelOrdinals: Sendable {
    /// Of attributes and to-one relationships.
    public let field: Int
    public let relationship: Int

    @inlinable
    public init(field: Int = 0, relationship: Int = 0) {
        self.field = field
        self.relationship = relationship
    }
}

/// A root class and everything below it, worked out once.
///
/// A store keeps the objects of all of them as one entity: the root's properties, those of the classes below it, depth first, and the name of the object's own
/// entity in an attribute of its own. So one table, one sequence of ids and one index serve the whole hierarchy, and no backend knows of it.
public final class ModelHierarchy: Sendable {
    struct Member: Sendable {
        let type: any Model.Type
        let name: String
        let isAbstract: Bool
        /// Among the members.
        let index: Int
        let parent: Int?
        let ordinals: ModelOrdinals
        /// Its own properties; their names are those of the whole entity.
        let properties: [PropertyDescription]
        /// Behind everything below it.
        fileprivate(set) var end: Int

        var isLeaf: Bool { end == index + 1 }
    }

    /// What the stores are told.
    public let entity: EntityDescription
    /// Depth first; the root is the first.
    let members: [Member]
    /// Why no store can be opened for it.
    let problem: StoreError?
    private let byType: [ObjectIdentifier: Int]

    /// - Parameter root: the class that all others inherit from.
    public init(_ root: any Model.Type) {
        var reader = HierarchyReader()
        reader.read(root, parent: nil)
        members = reader.members
        problem = reader.problem
        byType = Dictionary(reader.members.map { (ObjectIdentifier($0.type), $0.index) }, uniquingKeysWith: { first, _ in first })
        entity = reader.entity
    }

    func member(_ type: any Model.Type) -> Member? { byType[ObjectIdentifier(type)].map { members[$0] } }

    /// Where a class's own properties begin. Of a class that is not listed there are no objects, and the schema says so.
    public func ordinals(of type: any Model.Type) -> ModelOrdinals { member(type)?.ordinals ?? ModelOrdinals() }

    /// What is wrong with a class that claims to belong to it.
    func problem(of type: any Model.Type) -> StoreError? {
        if let problem { return problem }
        guard byType[ObjectIdentifier(type)] == nil else { return nil }
        let parent = type._$inheritance.superentity.map { "\($0)" } ?? "its superclass"
        return StoreError(
            .invalidSchema, "\(type) inherits from \(parent), which does not list it: name \"\(type)\" among the subentities of \(parent).",
            entity: type._$entityName)
    }
}

/// Goes over the classes of a hierarchy.
private struct HierarchyReader {
    var members: [ModelHierarchy.Member] = []
    var problem: StoreError?
    private var fields = 0
    private var relationships = 0
    private var properties: [PropertyDescription] = []
    private var indexes: [IndexDescription] = []
    private var subentities: [SubentityDescription] = []
    /// Which class has a property, by its name without case.
    private var owners: [String: (type: any Model.Type, name: String)] = [:]
    private var names: Set<String> = []

    var entity: EntityDescription {
        let root = members[0]
        let classifier = AttributeDescription(name: EntityHierarchy.classifier, type: .string, isIndexed: true)
        return EntityDescription(
            name: root.name, originalName: root.type._$entity.originalName, properties: properties + [.attribute(classifier)],
            indexes: indexes,
            hierarchy: EntityHierarchy(
                isAbstract: root.isAbstract, properties: root.properties.map { $0.name }, subentities: subentities))
    }

    mutating func read(_ type: any Model.Type, parent: Int?) {
        let told = type._$inheritance
        let own = type._$entity
        if members.contains(where: { $0.type == type }) { return refuse(type, "\(type) is listed twice in its hierarchy.") }
        if let parent, told.superentity.map({ $0 != members[parent].type }) ?? true {
            refuse(
                type,
                "\(members[parent].type) lists \(type) among its subentities, but \(type) \(told.superentity.map { "inherits from \($0): list each class where it inherits from" } ?? "does not say that it inherits from a model: mark it with @Model")."
            )
        }
        if told.isAbstract, told.subentities.isEmpty {
            refuse(type, "\(type) is abstract and lists no subentities, so there could be no object of it.")
        }
        if !names.insert(own.name.lowercased()).inserted {
            refuse(type, "Two entities of the hierarchy are called \(own.name); give \(type) another name with `entity:`.")
        }
        let index = members.count
        members.append(
            ModelHierarchy.Member(
                type: type, name: own.name, isAbstract: told.isAbstract, index: index, parent: parent,
                ordinals: ModelOrdinals(field: fields, relationship: relationships), properties: own.properties, end: index + 1))
        for property in own.properties { add(property, of: type, isRoot: parent == nil) }
        indexes += own.indexes
        if let parent {
            subentities.append(
                SubentityDescription(
                    name: own.name, originalName: own.originalName, parent: members[parent].name, isAbstract: told.isAbstract,
                    properties: own.properties.map { $0.name }, required: own.properties.filter(\.isRequired).map { $0.name }))
        }
        for below in told.subentities { read(below, parent: index) }
        members[index].end = members.count
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
            // Objects of other classes are without it.
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
    /// Whether an object cannot be without it.
    fileprivate var isRequired: Bool {
        switch self {
        case .attribute(let attribute): !attribute.isOptional
        case .relationship(let relationship): relationship.isRequired && !relationship.isToMany
        }
    }
}
