import PolyStoreBackend

/// What a query of values asks for.
///
///     Select<Int>("age")                                  // one value of a type, for queryValue
///     Select<Double>(.average(\.age))
///     Select("age", .count("age", as: "people"))          // several, for queryAttributes
///     Select(.select("location") | .average("age"))
///
/// Strings are names of attributes, paths over relationships, functions of these, `"count(friends)"`, or expressions, `"price * quantity"`. A key path with
/// its root, `\Person.age`, is checked by the compiler; one without, as `Select` alone does not know the model, is a name like a string.
public struct Select<Result>: Sendable {
    let terms: [SelectTerm]

    public init(_ term: SelectTerm) { terms = [term] }
    public init<T: Model, V>(_ path: KeyPath<T, V>) { terms = [.attribute(path)] }
    @_disfavoredOverload
    public init(_ path: KeyPath<PropertyNames, PropertyName>) { terms = [.attribute(path)] }
}

/// One answer of `queryAttributes`: values by name. Null values are absent.
public typealias QueryRow = [String: QueryValue]

extension Select where Result == QueryRow {
    public init(_ terms: SelectTerm...) { self.init(terms) }
    public init(_ terms: [SelectTerm]) { self.terms = terms }
}

/// One value that a query asks for: an attribute, an expression, a function of one. Its name in the answer is what `as` says, else `age`, `average(age)`.
///
/// A function is of the values of the objects in a group, or in all; null values are left out. Over a path to many, as in `count("friends")`, it is of
/// the values of all the objects that those lead to.
public struct SelectTerm: Sendable, ExpressibleByStringLiteral {
    let function: Aggregate.Function?
    let operand: QueryName
    let alias: String?

    init(_ function: Aggregate.Function?, _ operand: QueryName, _ alias: String?) {
        self.function = function
        self.operand = operand
        self.alias = alias
    }

    public init(stringLiteral name: String) { self.init(nil, .text(name), nil) }
    public init(_ name: String, as alias: String? = nil) { self.init(nil, .text(name), alias) }

    /// The object's id, as `objectID`.
    public static var objectID: SelectTerm { objectID(as: nil) }
    public static func objectID(as alias: String?) -> SelectTerm { SelectTerm(nil, .text("objectID"), alias) }

    /// How many objects there are, as `count`.
    public static var count: SelectTerm { count(as: nil) }
    public static func count(as alias: String?) -> SelectTerm { SelectTerm(.count, .objects, alias ?? "count") }

    /// The value itself.
    public static func attribute(_ name: String, as alias: String? = nil) -> SelectTerm { SelectTerm(nil, .text(name), alias) }
    public static func attribute<T: Model, V>(_ path: KeyPath<T, V>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(nil, .path(path), alias)
    }
    @_disfavoredOverload
    public static func attribute(_ path: KeyPath<PropertyNames, PropertyName>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(nil, .text(path.name), alias)
    }

    /// Several values, to be combined with others: `.select("location", "age") | .average("age")`.
    public static func select(_ names: String...) -> [SelectTerm] { names.map { SelectTerm($0) } }

    public static func | (left: SelectTerm, right: SelectTerm) -> [SelectTerm] { [left, right] }
    public static func | (left: SelectTerm, right: [SelectTerm]) -> [SelectTerm] { [left] + right }
}

extension [SelectTerm] {
    public static func select(_ names: String...) -> [SelectTerm] { names.map { SelectTerm($0) } }

    public static func | (left: [SelectTerm], right: SelectTerm) -> [SelectTerm] { left + [right] }
    public static func | (left: [SelectTerm], right: [SelectTerm]) -> [SelectTerm] { left + right }
}

/// What stands for a model's properties in a key path without root: `Select<Double>(.average(\.age))`.
@dynamicMemberLookup
public struct PropertyNames: Sendable {
    public subscript(dynamicMember name: String) -> PropertyName { PropertyName(path: name) }
}

/// The name of a property, or a path over relationships.
@dynamicMemberLookup
public struct PropertyName: Sendable {
    let path: String
    public subscript(dynamicMember name: String) -> PropertyName { PropertyName(path: path + "." + name) }
}

extension KeyPath<PropertyNames, PropertyName> {
    var name: String { PropertyNames()[keyPath: self].path }
}

/// How a value is called in a query before its model is known.
enum QueryName: @unchecked Sendable {  // key paths of stored properties hold no state
    case objects
    case text(String)
    case path(AnyKeyPath)
}
