import PolyStoreBackend
import PolyStoreConditions

/// The values that a query returns.
///
///     Select<Int>("age")                                  // one value of a type, for queryValue
///     Select<Double>(.average(\.age))
///     Select("age", .count("age", as: "people"))          // several, for queryAttributes
///     Select(.select("location") | .average("age"))
///
/// A string is the name of an attribute, a path of relationships, a function such as `"count(friends)"`, or an expression such as `"price * quantity"`. The
/// compiler checks a key path with a root, `\Person.age`. A key path without a root is only a name, because `Select` does not know the model.
public struct Select<Result>: Sendable, Hashable {
    let terms: [SelectTerm]
    /// A Boolean value that indicates whether each row is returned once.
    private(set) var isDistinct = false

    /// Returns the selection with each row once.
    public func distinct() -> Select {
        var copy = self
        copy.isDistinct = true
        return copy
    }

    /// Creates a selection of one value.
    public init(_ term: SelectTerm) { terms = [term] }
    public init<T: Model, V>(_ path: KeyPath<T, V>) { terms = [.attribute(path)] }
    @_disfavoredOverload
    public init(_ path: KeyPath<PropertyNames, PropertyName>) { terms = [.attribute(path)] }
}

/// A row of the result of `queryAttributes`: values by name. Null values are absent.
public typealias QueryRow = [String: QueryValue]

extension Select where Result == QueryRow {
    /// Creates a selection of several values.
    public init(_ terms: SelectTerm...) { self.init(terms) }
    public init(_ terms: [SelectTerm]) { self.terms = terms }
}

/// A value of a query: an attribute, an expression, or a function. Its name in the result is the alias `as`; the default is `age`, `average(age)`.
///
/// A function covers the values of the objects in a group, or of all objects, and ignores null. For a to-many path, as in `count("friends")`, it covers the
/// values of all related objects of these objects.
public struct SelectTerm: Sendable, Hashable, ExpressibleByStringLiteral {
    let function: Aggregate.Function?
    let operand: QueryName
    let alias: String?

    package init(_ function: Aggregate.Function?, _ operand: QueryName, _ alias: String?) {
        self.function = function
        self.operand = operand
        self.alias = alias
    }

    /// Creates a term from a name, a path, a function or an expression.
    public init(stringLiteral name: String) { self.init(nil, .text(name), nil) }
    /// Creates a term from a name that is not a literal, with an alias.
    public init(_ name: String, as alias: String? = nil) { self.init(nil, .text(name), alias) }

    /// The object's id, with the name `objectID`.
    public static var objectID: SelectTerm { objectID(as: nil) }
    public static func objectID(as alias: String?) -> SelectTerm { SelectTerm(nil, .text("objectID"), alias) }

    /// The number of objects, with the name `count`.
    public static var count: SelectTerm { count(as: nil) }
    public static func count(as alias: String?) -> SelectTerm { SelectTerm(.count, .objects, alias ?? "count") }

    /// Returns the value of an attribute.
    public static func attribute(_ name: String, as alias: String? = nil) -> SelectTerm { SelectTerm(nil, .text(name), alias) }
    public static func attribute<T: Model, V>(_ path: KeyPath<T, V>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(nil, .path(path), alias)
    }
    @_disfavoredOverload
    public static func attribute(_ path: KeyPath<PropertyNames, PropertyName>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(nil, .text(path.name), alias)
    }

    /// Returns several values, to combine with others: `.select("location", "age") | .average("age")`. The form of CoreDataMonk; the same as
    /// `Select("location", "age", .average("age"))`.
    public static func select(_ names: String...) -> [SelectTerm] { names.map { SelectTerm($0) } }

    /// Combines terms for ``Select``. The form of CoreDataMonk; the same as a comma.
    public static func | (left: SelectTerm, right: SelectTerm) -> [SelectTerm] { [left, right] }
    public static func | (left: SelectTerm, right: [SelectTerm]) -> [SelectTerm] { [left] + right }
}

extension [SelectTerm] {
    /// Returns several values, to combine with others.
    public static func select(_ names: String...) -> [SelectTerm] { names.map { SelectTerm($0) } }

    /// Combines terms for ``Select``.
    public static func | (left: [SelectTerm], right: SelectTerm) -> [SelectTerm] { left + [right] }
    public static func | (left: [SelectTerm], right: [SelectTerm]) -> [SelectTerm] { left + right }
}

/// The root of key paths that do not specify a model: `Select<Double>(.average(\.age))`.
@dynamicMemberLookup
public struct PropertyNames: Sendable {
    /// Returns the name of a property.
    public subscript(dynamicMember name: String) -> PropertyName { PropertyName(path: name) }
}

/// The name of a property, or a path of relationships.
@dynamicMemberLookup
public struct PropertyName: Sendable {
    let path: String
    /// Returns the path extended by a property.
    public subscript(dynamicMember name: String) -> PropertyName { PropertyName(path: path + "." + name) }
}

extension KeyPath<PropertyNames, PropertyName> {
    var name: String { PropertyNames()[keyPath: self].path }
}

/// A value of a query before its model is known.
package enum QueryName: @unchecked Sendable, Hashable {  // key paths of stored properties hold no state
    case objects
    case text(String)
    case path(AnyKeyPath)
    /// A value by the stored names of properties, which are never aliases.
    case operand(Operand)
}
