/// Makes a class a model class: its stored properties are persisted in a store, and its objects belong to a context.
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
///     @Model
///     final class Department {
///         @Relationship var people: Set<Person>
///     }
///
/// Every stored `var` with a type annotation is an attribute, unless it is marked
/// ``Relationship(deleteRule:inverse:required:min:max:name:originalName:)`` or ``Transient()``. An attribute that is neither optional nor has a default value
/// starts with the empty value of its type and must be assigned before the object is committed.
///
/// A superclass lists its direct subclasses and is not final. Fetching the superclass returns the objects of all its subclasses:
///
///     @Model(isAbstract: true, subentities: "Person", "Company")
///     class Party { var name: String = "" }
///
///     @Model(subentities: "Employee")
///     class Person: Party { var age: Int = 0 }
///
///     @Model
///     final class Employee: Person { var salary: Decimal = 0 }
///
///     @Model
///     final class Company: Party { var taxNumber: String = "" }
///
/// A store keeps a class hierarchy as one entity, so the stored names of all properties of a hierarchy must differ.
/// - Parameters:
///   - entity: The name of the entity in the store. The default is the name of the class.
///   - originalName: The name of the entity in an earlier schema version.
///   - isAbstract: A Boolean value that indicates whether only the subclasses have objects.
///   - subentities: The names of the direct subclasses.
@attached(member, conformances: Model, names: arbitrary)
@attached(memberAttribute)
@attached(extension, conformances: Model, Sendable)
public macro Model(entity: String? = nil, originalName: String? = nil, isAbstract: Bool = false, subentities: String...) =
    #externalMacro(module: "PolyStoreMacros", type: "ModelMacro")

/// Declares options of an attribute of a `@Model` class.
/// - Parameters:
///   - options: `.unique`, `.indexed`, and rules that are checked at commit: `.range(0...150)` for numbers and dates, `.length(1...50)` for text (in
///     characters) and data (in bytes), `.matches("[a-z]+")` for a regular expression that must match the whole text. Null satisfies every rule.
///   - name: The name of the attribute in the store. The default is the name of the property.
///   - originalName: The name of the attribute in an earlier schema version.
@attached(peer)
public macro Attribute(_ options: AttributeOption..., name: String? = nil, originalName: String? = nil) =
    #externalMacro(module: "PolyStoreMacros", type: "MarkerMacro")

/// Declares a relationship of a `@Model` class: `Other?` for to-one, `Set<Other>` for to-many, `[Other]` for ordered to-many.
///
///     @Relationship(inverse: "playlist") var tracks: [Track]
///
/// A list contains an object at most once. If a list with duplicates is assigned, the first occurrence of each object is kept.
/// - Parameters:
///   - deleteRule: The effect of deleting the object on the objects at the other end.
///   - inverse: The name of the inverse property of the other class. Naming it at one end is enough. The compiler checks it.
///   - required: A Boolean value that indicates whether the relationship must have a value at commit (to-one).
///   - min: The minimum number of objects (to-many).
///   - max: The maximum number of objects (to-many); `nil` for no maximum.
///   - name: The name of the relationship in the store. The default is the name of the property.
///   - originalName: The name of the relationship in an earlier schema version.
@attached(peer)
public macro Relationship(
    deleteRule: DeleteRule = .nullify, inverse: String? = nil, required: Bool = false, min: Int = 0, max: Int? = nil, name: String? = nil,
    originalName: String? = nil
) = #externalMacro(module: "PolyStoreMacros", type: "MarkerMacro")

/// Excludes a property of a `@Model` class from the store. The property lasts as long as the object in memory.
@attached(peer)
public macro Transient() = #externalMacro(module: "PolyStoreMacros", type: "MarkerMacro")

/// Declares an index over several properties. Use it inside the class: `#Index<Person>(\.lastName, \.firstName)`.
///
/// An index can contain fields of `Codable` values, which are stored as JSON: `#Index<Person>(\.address.city)`, and `#Index<Person>(\.address?.city, \.lastName)` for an
/// optional property.
@freestanding(declaration)
public macro Index<T>(_ keyPaths: PartialKeyPath<T>...) = #externalMacro(module: "PolyStoreMacros", type: "IndexMacro")

/// Declares a uniqueness constraint over several properties. Use it inside the class: `#Unique<Person>(\.lastName, \.born)`.
@freestanding(declaration)
public macro Unique<T>(_ keyPaths: PartialKeyPath<T>...) = #externalMacro(module: "PolyStoreMacros", type: "IndexMacro")

/// Declares a full-text index over text attributes. Use it inside the class: `#Search(\.title, \.body)`.
///
///     @Model
///     final class Note {
///         var title: String = ""
///         var body: String = ""
///         #Search(\.title, \.body, weights: [2, 1], stemming: .english)
///     }
///
///     let found = try stack.fetchAll(From<Note>().search("lazy dog").limit(10))
///
/// A class can have several, which `name` distinguishes. A subclass declares one over its own and inherited attributes. The index can be added and removed without
/// another version of the schema. The compiler checks the key paths if they have a root: `#Search<Note>(\.title)`.
/// - Parameters:
///   - keyPaths: Text attributes, at most 64.
///   - name: The name that a search in this index gives: `$0.search("dog", in: "titles")`.
///   - weights: The weight of each attribute in the score, a number from 0.000001 to 1000000; the default is 1 each.
///   - stemming: The reduction of words to their stems: `.english` finds "dogs" for "dog".
@freestanding(declaration)
public macro Search<T>(
    _ keyPaths: PartialKeyPath<T>..., name: String = "", weights: [Double] = [], stemming: SearchOptions.Stemming = .none
) =
    #externalMacro(module: "PolyStoreMacros", type: "IndexMacro")

/// Declares a full-text index over text attributes, by key paths without a root: `#Search(\.title, \.body)`. The macro of the class checks them.
@freestanding(declaration)
public macro Search(
    _ keyPaths: KeyPath<PropertyNames, PropertyName>..., name: String = "", weights: [Double] = [],
    stemming: SearchOptions.Stemming = .none
) = #externalMacro(module: "PolyStoreMacros", type: "IndexMacro")

/// Generated by ``Model(entity:originalName:isAbstract:subentities:)``. Do not use it directly.
@attached(accessor)
public macro _PersistedAttribute(_ field: Int, in type: String? = nil) =
    #externalMacro(module: "PolyStoreMacros", type: "PersistedAttributeMacro")

/// Generated by ``Model(entity:originalName:isAbstract:subentities:)``. Do not use it directly.
@attached(accessor)
public macro _PersistedToOne(relationship: Int, field: Int, in type: String? = nil) =
    #externalMacro(module: "PolyStoreMacros", type: "PersistedToOneMacro")

/// Generated by ``Model(entity:originalName:isAbstract:subentities:)``. Do not use it directly.
@attached(accessor)
public macro _PersistedToMany(relationship: Int, in type: String? = nil) =
    #externalMacro(module: "PolyStoreMacros", type: "PersistedToManyMacro")
