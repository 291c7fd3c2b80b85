import PolyStoreAttributes
import PolyStoreBackend

/// A root class and all its subclasses. Computed once.
///
/// A store keeps the objects of all these classes as one entity: the root's properties, those of its subclasses, depth first, and an attribute with the name of
/// the object's own entity. Therefore one table, one sequence of row ids and one index serve the whole hierarchy, and backends need no support for hierarchies.
public final class ModelHierarchy: Sendable {
    /// The combined entity that stores receive.
    public let entity: EntityDescription
    /// The classes, in the order of ``classes``.
    let types: [any Model.Type]
    /// The descriptions of the classes, with properties by index.
    package let classes: [EntityClass]
    /// The field with the entity name of an object.
    let classifier: Int
    /// The reason why no store can be opened for the hierarchy; `nil` if it is valid.
    let problem: StoreError?
    private let firstIndexes: [ModelFirstIndexes]
    /// The names of the classes as UTF-8 bytes.
    private let names: [[UInt8]]
    private let byType: [ObjectIdentifier: Int]

    /// Creates a hierarchy.
    /// - Parameter root: The class that all others inherit from.
    public init(_ root: any Model.Type) {
        var reader = HierarchyReader()
        reader.read(root, parent: nil)
        types = reader.types
        firstIndexes = reader.firstIndexes
        problem = reader.problem
        byType = Dictionary(uniqueKeysWithValues: types.enumerated().map { (ObjectIdentifier($1), $0) })
        entity = reader.entity
        classes = entity.classes
        classifier = entity.classifierField ?? 0
        names = classes.map { Array($0.name.utf8) }
    }

    /// Returns the description of a class; `nil` if the hierarchy does not list the class.
    package func entityClass(_ type: any Model.Type) -> EntityClass? { byType[ObjectIdentifier(type)].map { classes[$0] } }

    /// Returns the class of an object. It is always listed, because objects are created from listed classes.
    func entityClass(of object: some Model) -> EntityClass { entityClass(Swift.type(of: object as any Model)) ?? classes[0] }

    /// Returns the class of a record.
    /// - Throws: `corrupt` if the record names an abstract entity, or one outside of the hierarchy.
    func entityClass(_ record: RecordView) throws -> EntityClass {
        guard !record.isNull(classifier) else {
            throw StoreError(undecodable: classifier, "The record does not say which entity of the hierarchy it is of.")
        }
        let bytes = record.bytes(classifier)
        for (index, name) in names.enumerated() where name.count == bytes.count && name.elementsEqual(bytes) && !classes[index].isAbstract {
            return classes[index]
        }
        throw StoreError(
            undecodable: classifier,
            "The record is of \"\(String(decoding: bytes, as: UTF8.self))\", and objects of \(entity.name) are \(classes[0].concreteNames.joined(separator: ", "))."
        )
    }

    /// Returns the class of a record.
    /// - Throws: `corrupt` if the record names an abstract entity, or one outside of the hierarchy.
    func type(_ record: RecordView) throws -> any Model.Type { types[try entityClass(record).index] }

    /// Returns whether an object is of the class with an entity name, or of a subclass.
    func isObject(_ object: some Model, of name: String) -> Bool {
        guard let named = classes.first(where: { $0.name == name }) else { return false }
        return named.concreteNames.contains(entityClass(of: object).name)
    }

    /// Returns the predicate for objects of a class, or nil if all objects match.
    package func condition(_ type: any Model.Type, includesSubentities: Bool) -> QueryPredicate? {
        guard let entityClass = entityClass(type) else { return QueryPredicate.none }
        if includesSubentities, entityClass.isRoot { return nil }
        let names = includesSubentities ? entityClass.concreteNames : entityClass.isAbstract ? [] : [entityClass.name]
        let field = FieldReference(index: classifier, name: EntityHierarchy.classifier, type: .string)
        guard names.count != 1 else { return .compare(field, .equal, .text(names[0])) }
        return names.isEmpty ? QueryPredicate.none : .oneOf(field, names.map { .text($0) })
    }

    /// Returns the first indexes of a class's own properties. An unlisted class has no objects, and the schema reports it.
    public func firstIndexes(of type: any Model.Type) -> ModelFirstIndexes {
        byType[ObjectIdentifier(type)].map { firstIndexes[$0] } ?? ModelFirstIndexes()
    }

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

/// An object of a Swift class that represents all classes of a hierarchy.
package protocol HierarchyObject: Model {
    /// The class of the object in the hierarchy that its entity holds; nil for any other entity.
    var entityClass: EntityClass? { get }
}

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
public struct ModelFirstIndexes: Sendable {
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
