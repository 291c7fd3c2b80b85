/// The composition of an entity that holds a class hierarchy.
///
/// A store has one entity for the root and all its subentities. Its properties are the root's properties, then those of every subentity, depth first, and last
/// the text attribute ``classifier``, which holds the name of the object's own entity. Tools and migrations use this description; backends do not need it.
public struct EntityHierarchy: Sendable, Hashable, Codable {
    /// The name of the attribute that holds the name of an object's own entity.
    public static let classifier = "_entity"

    /// A Boolean value that indicates whether the root is abstract: only its subentities have objects.
    public var isAbstract: Bool
    /// The names of the properties that the root declares.
    public var properties: [String]
    /// All direct and indirect subentities, depth first in order of declaration.
    public var subentities: [SubentityDescription]

    /// Creates the description of a hierarchy.
    public init(isAbstract: Bool, properties: [String], subentities: [SubentityDescription]) {
        self.isAbstract = isAbstract
        self.properties = properties
        self.subentities = subentities
    }
}

/// A subentity in a hierarchy.
public struct SubentityDescription: Sendable, Hashable, Codable {
    /// The name of the subentity.
    public var name: String
    /// The name in an earlier schema version, if the subentity was renamed.
    public var originalName: String?
    /// The name of the direct superentity.
    public var parent: String
    /// A Boolean value that indicates whether the subentity is abstract: only its own subentities have objects.
    public var isAbstract: Bool
    /// The names of the properties that the subentity declares, without inherited ones.
    public var properties: [String]
    /// The declared properties that objects of the subentity require, although they are optional in the combined entity.
    public var required: [String]

    /// Creates the description of a subentity.
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
