/// A record of a source: its fields and its position.
public struct SourceRecord: Sendable, Hashable {
    /// The fields of the record.
    public var fields: JSONObject
    /// The position of the record in its source.
    public var position: RecordPosition
    /// A Boolean value that indicates whether the source is untyped, as CSV is: every value is text or null.
    public var isUntyped: Bool

    /// Creates a record.
    public init(fields: JSONObject, position: RecordPosition, isUntyped: Bool = false) {
        self.fields = fields
        self.position = position
        self.isUntyped = isUntyped
    }

    /// The value of the field `name`, or nil if it does not exist.
    public subscript(name: String) -> JSONValue? { fields[name] }

    /// Returns the value of a field or a nested field: `name`, `address.city`, `tags.0`.
    public func value(at path: String) -> JSONValue? { fields.value(at: path) }
}

extension SourceRecord: CustomStringConvertible {
    public var description: String { "\(position): \(fields)" }
}
