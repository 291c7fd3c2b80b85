import PolyStoreBackend

/// The position of a model class in its hierarchy: its superclass and subclasses.
public struct ModelInheritance: Sendable {
    /// A Boolean value that indicates whether only subclasses have objects.
    public let isAbstract: Bool
    /// The direct model superclass; `nil` for the root of a hierarchy and for a class without a hierarchy.
    public let superentity: (any Model.Type)?
    /// All direct model subclasses. The list must be complete because a store keeps a hierarchy as one entity.
    public let subentities: [any Model.Type]

    /// Creates the position of a class.
    public init(isAbstract: Bool = false, superentity: (any Model.Type)? = nil, subentities: [any Model.Type] = []) {
        self.isAbstract = isAbstract
        self.superentity = superentity
        self.subentities = subentities
    }
}

/// The first indexes of a class's own properties in the entity of its hierarchy.
public struct ModelOrdinals: Sendable {
    /// The first field index, for attributes and to-one relationships.
    public let field: Int
    /// The first relationship index.
    public let relationship: Int

    /// Creates first indexes.
    @inlinable
    public init(field: Int = 0, relationship: Int = 0) {
        self.field = field
        self.relationship = relationship
    }
}

/// A root class and all its subclasses. Computed once.
///
/// A store keeps the objects of all these classes as one entity: the root's properties, those of its subclasses, depth first, and an attribute with the name of
/// the object's own entity. Therefore one table, one sequence of row ids and one index serve the whole hierarchy, and backends need no support for hierarchies.
public final class ModelHierarchy: Sendable {
    struct Member: Sendable {
        let type: any Model.Type
        let name: String
        let isAbstract: Bool
        /// The index among the members.
        let index: Int
        let parent: Int?
        let ordinals: ModelOrdinals
        /// The properties that the class declares, under their names in the combined entity.
        let properties: [PropertyDescription]
        /// The index after the last subclass.
        fileprivate(set) var end: Int

        var isLeaf: Bool { end == index + 1 }
    }

    /// The combined entity that stores receive.
    public let entity: EntityDescription
    /// The classes, depth first, beginning with the root.
    let members: [Member]
    /// The reason why no store can be opened for the hierarchy; `nil` if it is valid.
    let problem: StoreError?
    private let byType: [ObjectIdentifier: Int]

    /// Creates a hierarchy.
    /// - Parameter root: The class that all others inherit from.
    public init(_ root: any Model.Type) {
        var reader = HierarchyReader()
        reader.read(root, parent: nil)
        members = reader.members
        problem = reader.problem
        byType = Dictionary(reader.members.map { (ObjectIdentifier($0.type), $0.index) }, uniquingKeysWith: { first, _ in first })
        entity = reader.entity
    }

    func member(_ type: any Model.Type) -> Member? { byType[ObjectIdentifier(type)].map { members[$0] } }

    /// Returns the first indexes of a class's own properties. An unlisted class has no objects, and the schema reports it.
    public func ordinals(of type: any Model.Type) -> ModelOrdinals { member(type)?.ordinals ?? ModelOrdinals() }

    /// Returns the error for a class that declares itself part of the hierarchy but is not listed correctly.
    func problem(of type: any Model.Type) -> StoreError? {
        if let problem { return problem }
        guard byType[ObjectIdentifier(type)] == nil else { return nil }
        let parent = type._$inheritance.superentity.map { "\($0)" } ?? "its superclass"
        return StoreError(
            .invalidSchema, "\(type) inherits from \(parent), which does not list it: name \"\(type)\" among the subentities of \(parent).",
            entity: type._$entityName)
    }
}

/// The working state of resolving a hierarchy.
private struct HierarchyReader {
    var members: [ModelHierarchy.Member] = []
    var problem: StoreError?
    private var fields = 0
    private var relationships = 0
    private var properties: [PropertyDescription] = []
    private var indexes: [IndexDescription] = []
    private var subentities: [SubentityDescription] = []
    /// The class that declares a property, by the lowercase name of the property.
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
        let inheritance = type._$inheritance
        let own = type._$entity
        if members.contains(where: { $0.type == type }) { return refuse(type, "\(type) is listed twice in its hierarchy.") }
        if let parent, inheritance.superentity.map({ $0 != members[parent].type }) ?? true {
            refuse(
                type,
                "\(members[parent].type) lists \(type) among its subentities, but \(type) \(inheritance.superentity.map { "inherits from \($0): list each class where it inherits from" } ?? "does not say that it inherits from a model: mark it with @Model")."
            )
        }
        if inheritance.isAbstract, inheritance.subentities.isEmpty {
            refuse(type, "\(type) is abstract and lists no subentities, so there could be no object of it.")
        }
        if !names.insert(own.name.lowercased()).inserted {
            refuse(type, "Two entities of the hierarchy are called \(own.name); give \(type) another name with `entity:`.")
        }
        let index = members.count
        members.append(
            ModelHierarchy.Member(
                type: type, name: own.name, isAbstract: inheritance.isAbstract, index: index, parent: parent,
                ordinals: ModelOrdinals(field: fields, relationship: relationships), properties: own.properties, end: index + 1))
        for property in own.properties { add(property, of: type, isRoot: parent == nil) }
        indexes += own.indexes
        if let parent {
            subentities.append(
                SubentityDescription(
                    name: own.name, originalName: own.originalName, parent: members[parent].name, isAbstract: inheritance.isAbstract,
                    properties: own.properties.map { $0.name }, required: own.properties.filter(\.isRequired).map { $0.name }))
        }
        for below in inheritance.subentities { read(below, parent: index) }
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
