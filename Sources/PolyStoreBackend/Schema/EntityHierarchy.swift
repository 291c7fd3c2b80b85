/// How an entity that stands for a whole hierarchy of them is made up.
///
/// A store knows one entity for the root and everything below it: the root's properties, then those of every sub-entity, depth first, and last the text
/// attribute ``classifier``, which holds the name of the object's own entity. What is said here is for people, tools and migrations; no backend needs it.
public struct EntityHierarchy: Sendable, Hashable, Codable {
    /// The name of the attribute that says which entity of the hierarchy an object belongs to.
    public static let classifier = "_entity"

    /// Whether the root is abstract: no object belongs to it, only to entities below it.
    public var isAbstract: Bool
    /// The names of the root's own properties.
    public var properties: [String]
    /// Everything below the root, depth first in the order of declaration.
    public var subentities: [SubentityDescription]

    public init(isAbstract: Bool, properties: [String], subentities: [SubentityDescription]) {
        self.isAbstract = isAbstract
        self.properties = properties
        self.subentities = subentities
    }
}

/// An entity below the root of a hierarchy.
public struct SubentityDescription: Sendable, Hashable, Codable {
    public var name: String
    /// The name it had in an earlier version, if it was renamed.
    public var originalName: String?
    /// The entity right above it.
    public var parent: String
    /// Whether no object belongs to it, only to entities below it.
    public var isAbstract: Bool
    /// The names of its own properties, without those that it inherits.
    public var properties: [String]
    /// Those of its own properties that an object of it cannot be without, although they are optional in the hierarchy's entity.
    public var required: [String]

    public init(
        name: String, originalName: String? = nil, parent: String, isAbstract: Bool, properties: [String], required: [String]
    ) {
        self.name = name
        self.originalName = originalName
        self.parent = parent
        self.isAbstract = isAbstract
        self.properties = properties
        self.required = required
    }
}
