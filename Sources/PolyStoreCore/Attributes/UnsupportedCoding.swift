import PolyStoreBackend

/// The coding of a type that cannot be stored. Nothing of it ever runs, as ``ModelCheck`` makes the program fail to compile.
public enum UnsupportedCoding<T> {
    public static var initial: T { preconditionFailure("\(T.self) cannot be stored.") }
    public static func decode(_ record: RecordView, _ field: Int) throws -> T { throw error }
    public static func encode(_ value: T, into builder: inout RecordBuilder, _ field: Int) throws { throw error }
    public static func describe(
        _ name: String, options: [AttributeOption], originalName: String?, default value: T?
    ) -> AttributeDescription {
        AttributeDescription(name: name, type: .json)
    }

    private static var error: StoreError { StoreError(.invalidSchema, "A value of type \(T.self) cannot be stored.") }
}
