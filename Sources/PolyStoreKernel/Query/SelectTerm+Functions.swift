import PolyStoreBackend

extension SelectTerm {
    /// Returns the average: a decimal for decimals, otherwise a real.
    public static func average(_ name: String, as alias: String? = nil) -> SelectTerm { SelectTerm(.average, .text(name), alias) }
    public static func average<T: Model, V>(_ path: KeyPath<T, V>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.average, .path(path), alias)
    }
    @_disfavoredOverload
    public static func average(_ path: KeyPath<PropertyNames, PropertyName>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.average, .text(path.name), alias)
    }

    /// Returns the number of objects whose value is not null; for a to-many path, the number of related objects.
    public static func count(_ name: String, as alias: String? = nil) -> SelectTerm { SelectTerm(.count, .text(name), alias) }
    public static func count<T: Model, V>(_ path: KeyPath<T, V>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.count, .path(path), alias)
    }
    @_disfavoredOverload
    public static func count(_ path: KeyPath<PropertyNames, PropertyName>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.count, .text(path.name), alias)
    }

    /// Returns the number of distinct values.
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

    /// Returns the sum; 0 for no values. Sums of integers and decimals are exact and throw on overflow. The sum of Booleans is the number of true values.
    public static func sum(_ name: String, as alias: String? = nil) -> SelectTerm { SelectTerm(.sum, .text(name), alias) }
    public static func sum<T: Model, V>(_ path: KeyPath<T, V>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.sum, .path(path), alias)
    }
    @_disfavoredOverload
    public static func sum(_ path: KeyPath<PropertyNames, PropertyName>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.sum, .text(path.name), alias)
    }

    /// Returns the minimum, with the name `min(age)`.
    public static func minimum(_ name: String, as alias: String? = nil) -> SelectTerm { SelectTerm(.minimum, .text(name), alias) }
    public static func minimum<T: Model, V>(_ path: KeyPath<T, V>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.minimum, .path(path), alias)
    }
    @_disfavoredOverload
    public static func minimum(_ path: KeyPath<PropertyNames, PropertyName>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.minimum, .text(path.name), alias)
    }

    /// Returns the maximum, with the name `max(age)`.
    public static func maximum(_ name: String, as alias: String? = nil) -> SelectTerm { SelectTerm(.maximum, .text(name), alias) }
    public static func maximum<T: Model, V>(_ path: KeyPath<T, V>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.maximum, .path(path), alias)
    }
    @_disfavoredOverload
    public static func maximum(_ path: KeyPath<PropertyNames, PropertyName>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.maximum, .text(path.name), alias)
    }

    /// Returns the population standard deviation, with the name `stddev(age)`.
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

    /// Returns the median as a real, with the name `median(age)`; for an even number of values, the average of the two middle values.
    public static func median(_ name: String, as alias: String? = nil) -> SelectTerm { SelectTerm(.median, .text(name), alias) }
    public static func median<T: Model, V>(_ path: KeyPath<T, V>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.median, .path(path), alias)
    }
    @_disfavoredOverload
    public static func median(_ path: KeyPath<PropertyNames, PropertyName>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.median, .text(path.name), alias)
    }

    /// Returns the most frequent value, with the name `mode(age)`; of several, the least.
    public static func mode(_ name: String, as alias: String? = nil) -> SelectTerm { SelectTerm(.mode, .text(name), alias) }
    public static func mode<T: Model, V>(_ path: KeyPath<T, V>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.mode, .path(path), alias)
    }
    @_disfavoredOverload
    public static func mode(_ path: KeyPath<PropertyNames, PropertyName>, as alias: String? = nil) -> SelectTerm {
        SelectTerm(.mode, .text(path.name), alias)
    }
}
