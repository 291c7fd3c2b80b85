/// Makes a final class a model: its stored properties live in a store, its objects in a context.
///
///     @Model
///     final class Person {
///         @Attribute(.unique) var email: String
///         @Attribute(.indexed) var age: Int = 0
///         var nickname: String?
///         var tags: [String] = []
///         @Relationship(inverse: "people") var department: Department?
///         @Relationship(inverse: "friends") var friends: Set<Person>
///         @Transient var isSelected = false
///     }
///
/// Every stored `var` with a written type is an attribute, unless it is marked ``Relationship(deleteRule:inverse:required:min:max:name:originalName:)``
/// or ``Transient()``. An attribute that is neither optional nor has a default starts as its type's empty value and must be assigned
/// before the object is committed.
///
/// A class that others inherit from names them, all of those right below it, and is not final. Fetching it gives objects of all of them:
///
///     @Model(isAbstract: true, subentities: "Person", "Company")
///     class Party { var name: String = "" }
///
///     @Model(subentities: "Employee")
///     class Person: Party { var age: Int = 0 }
///
/// Names of properties in a store are unlike within a hierarchy, as a store keeps it as one entity.
/// - Parameters:
///   - entity: the entity's name in the store; the class's name unless told.
///   - originalName: the entity's name in an earlier version.
///   - isAbstract: whether there are only objects of the classes below it.
///   - subentities: the names of the model classes right below it.
@attached(member, conformances: Model, names: arbitrary)
@attached(memberAttribute)
@attached(extension, conformances: Model, Sendable)
public macro Model(entity: String? = nil, originalName: String? = nil, isAbstract: Bool = false, subentities: String...) =
    #externalMacro(module: "PolyStoreMacros", type: "ModelMacro")

/// Says more about an attribute of a `@Model` class.
/// - Parameters:
///   - options: `.unique`, `.indexed`, and rules that values must satisfy when they are committed: `.range(0...150)` of numbers and dates, `.length(1...50)`
///     of texts (in characters) and data (in bytes), `.matches("[a-z]+")`, a regular expression for the whole text. Null satisfies every rule.
///   - name: its name in the store; the property's name unless told.
///   - originalName: its name in an earlier version.
@attached(peer)
public macro Attribute(_ options: AttributeOption..., name: String? = nil, originalName: String? = nil) =
    #externalMacro(module: "PolyStoreMacros", type: "MarkerMacro")

/// Makes a property of a `@Model` class a relationship: `Other?` for one object, `Set<Other>` for many, `[Other]` for many in an order of their own.
///
///     @Relationship(inverse: "playlist") var tracks: [Track]
///
/// An object is in a list at most once: of one that is set twice the first place counts.
/// - Parameters:
///   - deleteRule: what becomes of the objects at the other end when this one is deleted.
///   - inverse: the property of the other class that leads back, by name; naming it at one end is enough. It is checked by the compiler.
///   - required: whether an object can be committed without it (to-one).
///   - min: the least count (to-many).
///   - max: the greatest count (to-many); nil for any.
///   - name: its name in the store.
///   - originalName: its name in an earlier version.
@attached(peer)
public macro Relationship(
    deleteRule: DeleteRule = .nullify, inverse: String? = nil, required: Bool = false, min: Int = 0, max: Int? = nil, name: String? = nil,
    originalName: String? = nil
) = #externalMacro(module: "PolyStoreMacros", type: "MarkerMacro")

/// Leaves a property of a `@Model` class alone: it is not stored, and lasts as long as the object in memory.
@attached(peer)
public macro Transient() = #externalMacro(module: "PolyStoreMacros", type: "MarkerMacro")

/// An index over several properties, written in the class: `#Index<Person>(\.lastName, \.firstName)`.
@freestanding(declaration)
public macro Index<T>(_ keyPaths: PartialKeyPath<T>...) = #externalMacro(module: "PolyStoreMacros", type: "IndexMacro")

/// Values that are unique together, written in the class: `#Unique<Person>(\.lastName, \.born)`.
@freestanding(declaration)
public macro Unique<T>(_ keyPaths: PartialKeyPath<T>...) = #externalMacro(module: "PolyStoreMacros", type: "IndexMacro")

/// Written by ``Model(entity:originalName:isAbstract:subentities:)``; not for use by hand.
@attached(accessor)
public macro _PersistedAttribute(_ field: Int, in type: String? = nil) =
    #externalMacro(module: "PolyStoreMacros", type: "PersistedAttributeMacro")

/// Written by ``Model(entity:originalName:isAbstract:subentities:)``; not for use by hand.
@attached(accessor)
public macro _PersistedToOne(relationship: Int, field: Int, in type: String? = nil) =
    #externalMacro(module: "PolyStoreMacros", type: "PersistedToOneMacro")

/// Written by ``Model(entity:originalName:isAbstract:subentities:)``; not for use by hand.
@attached(accessor)
public macro _PersistedToMany(relationship: Int, in type: String? = nil) =
    #externalMacro(module: "PolyStoreMacros", type: "PersistedToManyMacro")
