import PolyStoreAttributes

extension ModelCoding {
    /// Returns the name of the entity without creating its description.
    public static func entityName<T: Model>(_ type: T.Type) -> String { T._$entityName }

    // The destinations of relationships. `ModelCheck.relationship` refuses a type that is not a model, at the property; the last overload of each function
    // lets the expansion of such a class compile.

    /// Returns the name of the entity at the other end of a relationship.
    public static func destination<T, D: Model>(_ path: KeyPath<T, D?>) -> String { D._$entityName }
    public static func destination<T, D: Model>(_ path: KeyPath<T, Set<D>>) -> String { D._$entityName }
    public static func destination<T, D: Model>(_ path: KeyPath<T, [D]>) -> String { D._$entityName }
    @_disfavoredOverload public static func destination<T, V>(_ path: KeyPath<T, V>) -> String { "\(V.self)" }

    /// Returns the stored name of a property of the class at the other end of a relationship.
    public static func inverse<T, D: Model>(_ property: String, of path: KeyPath<T, D?>) -> String { D._$storedName(property) }
    public static func inverse<T, D: Model>(_ property: String, of path: KeyPath<T, Set<D>>) -> String { D._$storedName(property) }
    public static func inverse<T, D: Model>(_ property: String, of path: KeyPath<T, [D]>) -> String { D._$storedName(property) }
    @_disfavoredOverload public static func inverse<T, V>(_ property: String, of path: KeyPath<T, V>) -> String { property }
}
