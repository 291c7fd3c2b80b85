import PolyStoreBackend

/// The coding of a type that cannot be stored. Never called at run time, because ``ModelCheck`` causes a compile-time error.
public enum UnsupportedCoding<T> {
    /// The initial value of an attribute without a default value.
    @available(
        *, unavailable,
        message: "this type cannot be stored without a default value: give the attribute one, or make it optional"
    )
    public static var initial: T { preconditionFailure("unavailable") }
    /// Reads a field.
    /// - Throws: `corrupt` if the field does not contain a valid value.
    public static func decode(_ record: RecordView, _ field: Int) throws -> T { throw error }
    /// Writes a field.
    public static func encode(_ value: T, into builder: inout RecordBuilder, _ field: Int) throws { throw error }
    /// Returns the declaration of an attribute.
    public static func describe(
        _ name: String, options: [AttributeOption], originalName: String?, default value: T?
    ) -> AttributeDescription {
        AttributeDescription(name: name, type: .json)
    }

    private static var error: StoreError { StoreError(.invalidSchema, "A value of type \(T.self) cannot be stored.") }
}
