import PolyStoreBackend

extension SelectTerm {
    /// The average, a real.
    public static func average(_ name: String, as alias: String? = nil) -> SelectTerm { SelectTerm(.average, .text(name), alias) }
    public static func average<T: Model, V>(_ path: KeyPath<T, V>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.average, .path(path), alias)
    }
    @_disfavoredOverload
    public static func average(_ path: KeyPath<PropertyNames, PropertyName>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.average, .text(path.name), alias)
    }

    /// How many objects have a value; over a path to many, how many objects that leads to.
    public static func count(_ name: String, as alias: String? = nil) -> SelectTerm { SelectTerm(.count, .text(name), alias) }
    public static func count<T: Model, V>(_ path: KeyPath<T, V>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.count, .path(path), alias)
    }
    @_disfavoredOverload
    public static func count(_ path: KeyPath<PropertyNames, PropertyName>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.count, .text(path.name), alias)
    }

    /// How many different values there are.
    public static func countDistinct(_ name: String, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.countDistinct, .text(name), alias)
    }
    public static func countDistinct<T: Model, V>(_ path: KeyPath<T, V>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.countDistinct, .path(path), alias)
    }
    @_disfavoredOverload
    public static func countDistinct(_ path: KeyPath<PropertyNames, PropertyName>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.countDistinct, .text(path.name), alias)
    }

    /// The sum: of integers exact, or an error where it does not fit 64 bits; of nothing 0.
    public static func sum(_ name: String, as alias: String? = nil) -> SelectTerm { SelectTerm(.sum, .text(name), alias) }
    public static func sum<T: Model, V>(_ path: KeyPath<T, V>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.sum, .path(path), alias)
    }
    @_disfavoredOverload
    public static func sum(_ path: KeyPath<PropertyNames, PropertyName>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.sum, .text(path.name), alias)
    }

    /// The least value, as `min(age)`.
    public static func minimum(_ name: String, as alias: String? = nil) -> SelectTerm { SelectTerm(.minimum, .text(name), alias) }
    public static func minimum<T: Model, V>(_ path: KeyPath<T, V>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.minimum, .path(path), alias)
    }
    @_disfavoredOverload
    public static func minimum(_ path: KeyPath<PropertyNames, PropertyName>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.minimum, .text(path.name), alias)
    }

    /// The greatest value, as `max(age)`.
    public static func maximum(_ name: String, as alias: String? = nil) -> SelectTerm { SelectTerm(.maximum, .text(name), alias) }
    public static func maximum<T: Model, V>(_ path: KeyPath<T, V>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.maximum, .path(path), alias)
    }
    @_disfavoredOverload
    public static func maximum(_ path: KeyPath<PropertyNames, PropertyName>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.maximum, .text(path.name), alias)
    }

    /// How far the values lie from their average, as `stddev(age)`: of a population, the root of the average of the squared differences.
    public static func standardDeviation(_ name: String, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.standardDeviation, .text(name), alias)
    }
    public static func standardDeviation<T: Model, V>(_ path: KeyPath<T, V>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.standardDeviation, .path(path), alias)
    }
    @_disfavoredOverload
    public static func standardDeviation(_ path: KeyPath<PropertyNames, PropertyName>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.standardDeviation, .text(path.name), alias)
    }

    /// The value in the middle, a real; of an even number of values the average of the two in the middle.
    public static func median(_ name: String, as alias: String? = nil) -> SelectTerm { SelectTerm(.median, .text(name), alias) }
    public static func median<T: Model, V>(_ path: KeyPath<T, V>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.median, .path(path), alias)
    }
    @_disfavoredOverload
    public static func median(_ path: KeyPath<PropertyNames, PropertyName>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.median, .text(path.name), alias)
    }
}
