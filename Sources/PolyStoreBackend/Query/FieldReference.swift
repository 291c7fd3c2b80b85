/// A reference to a field of the record or to the object's id.
public struct FieldReference: Sendable, Hashable {
    /// The field index, or -1 for the id.
    public let index: Int
    /// The name of the field.
    public let name: String
    /// The type of the field.
    public let type: AttributeType

    /// Creates a reference to a field of a resolved schema.
    public init(_ field: Field) {
        index = field.index
        name = field.name
        type = field.type
    }

    /// Creates a reference to a field whose index is known without a resolved schema.
    public init(index: Int, name: String, type: AttributeType) {
        self.index = index
        self.name = name
        self.type = type
    }

    /// The object's id.
    public static let objectID = FieldReference(index: -1, name: "objectID", type: .int64)

    /// A Boolean value that indicates whether the reference is to the object's id.
    public var isObjectID: Bool { index < 0 }
    /// A Boolean value that indicates whether integers are compared as unsigned.
    public var isUnsigned: Bool { type == .uint64 }
}
