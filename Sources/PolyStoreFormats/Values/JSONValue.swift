/// A value of a record: a JSON value with exact numbers and ordered objects.
///
/// CSV readers produce only `.string` and `.null`; conversions such as ``SourceFields/require(_:as:options:)`` parse numbers and dates from text.
///
///     let value: JSONValue = ["name": "Paris", "population": 2_102_650, "position": [48.85, 2.35]]
///     value["name"]?.string           // "Paris"
///     value["position"]?[0]?.double   // 48.85
public enum JSONValue: Sendable, Hashable {
    /// The literal `null`.
    case null
    /// The literal `true` or `false`.
    case bool(Bool)
    /// A number, with the digits of its source.
    case number(JSONNumber)
    /// A text.
    case string(String)
    /// An array, in order.
    case array([JSONValue])
    /// An object, with its fields in order.
    case object(JSONObject)
}

extension JSONValue: CustomStringConvertible {
    /// The value as compact JSON.
    public var description: String { JSONText.compact(self) }

    /// The value in error messages: its kind and at most 40 characters.
    package var shortDescription: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let number): "the number \(Self.shortened(number.text))"
        case .string(let text): "the text \"\(Self.shortened(text))\""
        case .array(let elements): "an array of \(elements.count) values"
        case .object(let object): "an object with \(object.count) fields"
        }
    }

    static func shortened(_ text: String) -> String {
        // Counts UTF-8 bytes, which takes constant time: a text can have 100 MB.
        guard text.utf8.count > 40 else { return String(text.map { $0.isNewline ? " " : $0 }) }
        return text.prefix(37).map { $0.isNewline ? " " : String($0) }.joined() + "…"
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
    public init(floatLiteral value: Double) { self = .number(JSONNumber(floatLiteral: value)) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object. If several fields have the same name, the last value is kept.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}

extension JSONValue {
    /// Creates a value of a Swift type.
    public init(_ value: Bool) { self = .bool(value) }
    public init(_ value: String) { self = .string(value) }
    public init(_ value: some BinaryInteger) { self = .number(JSONNumber(value)) }
    public init(_ values: [JSONValue]) { self = .array(values) }
    public init(_ object: JSONObject) { self = .object(object) }
}
