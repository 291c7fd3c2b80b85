/// A value within a JSON attribute: the member that a path of keys leads to, read as an attribute type, or a test of the elements of an array there.
///
/// The text of the attribute is read by the grammar of RFC 8259. The value is null
///
/// - if the attribute is null, or its text is not valid JSON, or has more than 512 nested levels;
/// - if a key is missing, or a value on the way is not an object;
/// - if the member is JSON null, or a value of another kind than the type needs; see ``accepts(_:)``.
///
/// If an object has a key several times, the first one counts, as for `JSONDecoder` and SQLite.
public struct JSONField: Sendable, Hashable {
    /// The value that is determined from the member.
    public enum Result: Sendable, Hashable {
        /// Its value as an attribute type.
        case value(AttributeType)
        /// Whether it is an array with an element that equals a constant of an attribute type. The constant is not null. Null if it is not an array.
        case contains(Value, AttributeType)
    }

    /// The keys of nested objects, from the outside in; empty for the whole value.
    public let keys: [String]
    /// The value that is determined from the member.
    public let result: Result

    /// Creates a field from its keys.
    public init(_ keys: [String], _ result: Result) {
        self.keys = keys
        self.result = result
    }

    /// Fields are equal if their keys have the same bytes. Keys of JSON are compared by bytes, while equal texts can have different ones.
    public static func == (left: JSONField, right: JSONField) -> Bool {
        left.result == right.result && left.keys.count == right.keys.count
            && zip(left.keys, right.keys).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(result)
        for key in keys {
            for byte in key.utf8 { hasher.combine(byte) }
            hasher.combine(UInt8.max)
        }
    }

    /// The type of the result.
    public var type: AttributeType {
        switch result {
        case .value(let type): type
        case .contains: .bool
        }
    }

    /// Returns whether values in JSON can be read as a type.
    ///
    /// | type | value in JSON |
    /// |---|---|
    /// | `string`, `url` | a text. It is null if it contains half of a surrogate pair |
    /// | `bool` | `true` or `false` |
    /// | `int64`, `uint64` | a number that is an integer and fits the type, however it is written: `2`, `2.0`, `20e-1` |
    /// | `float`, `double`, `date` | a number, rounded to the nearest value; −0 is 0. It is null if it is too large to be finite. Dates are seconds since 2001 |
    /// | `decimal` | a number, exact to 38 digits |
    /// | `uuid`, `data` | a text with a UUID, or in Base64 |
    /// | `json` | any value but null: its text, as it is stored |
    ///
    /// Smaller integers are read as `int64`.
    public static func accepts(_ type: AttributeType) -> Bool {
        switch type {
        case .string, .url, .bool, .int64, .uint64, .float, .double, .date, .decimal, .uuid, .data, .json: true
        case .int8, .int16, .int32, .uint8, .uint16, .uint32: false
        }
    }

    /// The type as which values of an attribute type are read in JSON.
    package static func type(for type: AttributeType) -> AttributeType { accepts(type) ? type : .int64 }
}

extension JSONField {
    /// The expression in readable form: `address.city`, `tags CONTAINS "a"`.
    func description(of attribute: QueryExpression) -> String {
        let path = (["\(attribute)"] + keys).joined(separator: ".")
        return switch result {
        case .value: path
        case .contains(let value, _): "(\(path) CONTAINS \(value.literal))"
        }
    }

    /// Returns why the field cannot be read from an expression; nil if it can.
    func refusal(of attribute: QueryExpression) -> String? {
        guard attribute.type == .json else { return "\(attribute) is \(attribute.type), and only JSON has fields." }
        guard keys.count <= FetchRequest.maximumDepth else {
            return "A path of \(keys.count) keys is too long; \(FetchRequest.maximumDepth) are the limit."
        }
        switch result {
        case .value(let type): return Self.accepts(type) ? nil : "A field of JSON cannot be read as \(type)."
        case .contains(let value, let type):
            guard Self.accepts(type), type != .json else { return "An array in JSON has no elements of the type \(type)." }
            return !value.isNull && value.fits(type) ? nil : "\(value.literal) is not a value of the type \(type)."
        }
    }
}
