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
