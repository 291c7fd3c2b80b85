import PolyStoreAttributes

/// Compile-time checks of the properties of a model. `@Model` generates a call on each property's line. A call that resolves to
/// an unavailable overload produces the error that the user sees.
public enum ModelCheck {
    // MARK: Attributes

    /// Checks that a type can be the type of an attribute. The overloads for other types are unavailable.
    public static func attribute<T: AttributeValue>(_ type: T.Type) {}

    public static func attribute<T: RawRepresentable>(_ type: T.Type, _ fallback: Void = ()) where T.RawValue: AttributeValue {}
    public static func attribute<T: RawRepresentable>(_ type: T?.Type, _ fallback: Void = ()) where T.RawValue: AttributeValue {}

    @_disfavoredOverload public static func attribute<T: Codable>(_ type: T.Type) {}
    @_disfavoredOverload public static func attribute<T: Codable>(_ type: T?.Type) {}

    @available(
        *, unavailable,
        message: "a property that refers to another model is a relationship: mark it with @Relationship and make it optional"
    )
    public static func attribute<T: Model>(_ type: T.Type) {}

    @available(*, unavailable, message: "a property that refers to another model is a relationship: mark it with @Relationship")
    public static func attribute<T: Model>(_ type: T?.Type) {}

    @available(*, unavailable, message: "a property that refers to other models is a relationship: mark it with @Relationship")
    public static func attribute<T: Model>(_ type: Set<T>.Type) {}

    @available(*, unavailable, message: "a property that refers to other models is a relationship: mark it with @Relationship")
    public static func attribute<T: Model>(_ type: [T].Type) {}

    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "this type cannot be stored: conform it to Codable, give an enum raw values, or mark the property with @Transient"
    )
    public static func attribute<T>(_ type: T.Type, _ fallback: Void = ()) {}

    /// Checks that a type can be the type of an attribute that has no default value. It must have an empty value, which new objects start with.
    public static func required<T: AttributeValue>(_ type: T.Type) {}

    @available(*, unavailable, message: "an enum with raw values has no empty value: give the attribute a default, or make it optional")
    public static func required<T: RawRepresentable>(_ type: T.Type, _ fallback: Void = ()) where T.RawValue: AttributeValue {}
    public static func required<T: RawRepresentable>(_ type: T?.Type, _ fallback: Void = ()) where T.RawValue: AttributeValue {}

    @_disfavoredOverload
    @available(*, unavailable, message: "a Codable type has no empty value: give the attribute a default, or make it optional")
    public static func required<T: Codable>(_ type: T.Type) {}
    @_disfavoredOverload public static func required<T: Codable>(_ type: T?.Type) {}

    @available(
        *, unavailable,
        message: "a property that refers to another model is a relationship: mark it with @Relationship and make it optional"
    )
    public static func required<T: Model>(_ type: T.Type) {}

    @available(*, unavailable, message: "a property that refers to another model is a relationship: mark it with @Relationship")
    public static func required<T: Model>(_ type: T?.Type) {}

    @available(*, unavailable, message: "a property that refers to other models is a relationship: mark it with @Relationship")
    public static func required<T: Model>(_ type: Set<T>.Type) {}

    @available(*, unavailable, message: "a property that refers to other models is a relationship: mark it with @Relationship")
    public static func required<T: Model>(_ type: [T].Type) {}

    @_disfavoredOverload
    @available(
        *, unavailable,
        message: "this type cannot be stored: conform it to Codable, give an enum raw values, or mark the property with @Transient"
    )
    public static func required<T>(_ type: T.Type, _ fallback: Void = ()) {}

    // MARK: Relationships

    /// Checks that a relationship leads to a model.
    public static func relationship<T, Value: ModelReference>(_ path: KeyPath<T, Value>) {}

    @_disfavoredOverload
    @available(
        *, unavailable, message: "a relationship leads to a model: mark the class with @Model, or remove @Relationship to store a value"
    )
    public static func relationship<T, Value>(_ path: KeyPath<T, Value>) {}

    /// Returns a check of the property at the other end of a relationship. The key path is resolved before the overloads of ``Inverse/check(_:)``, so a
    /// nonexistent name is reported as such.
    public static func inverse<T, Value>(_ path: KeyPath<T, Value>) -> Inverse<Value> { Inverse() }

    /// A check of an inverse property.
    public struct Inverse<Value> {
        /// Checks that the inverse is a relationship that leads back to a class.
        @_disfavoredOverload
        @available(*, unavailable, message: "the inverse must be a relationship that leads back to this class")
        public func check<Owner>(_ owner: Owner.Type) {}
    }

    // MARK: Hierarchies

    /// Checks of the classes that a superclass lists.
    public enum Superclass<Parent: Model> {
        /// Returns a listed class.
        public static func lists(_ subclass: Parent.Type) -> any Model.Type { subclass }

        @_disfavoredOverload
        @available(*, unavailable, message: "a class among the subentities must inherit from this class")
        public static func lists<Other>(_ subclass: Other.Type) -> any Model.Type { Parent.self }
    }
}

extension ModelCheck.Inverse where Value: ModelReference {
    /// Checks that the inverse leads back to the class, or to a superclass of it.
    public func check(_ owner: Value.ReferencedModel.Type) {}
}
