import PolyStoreBackend

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
        var end: Int

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
