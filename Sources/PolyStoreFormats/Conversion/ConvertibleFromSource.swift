/// A type that is created from a value of a record.
///
/// Conversions never lose information silently: a fraction is not converted to an integer, and a number out of range is an error.
/// Throw a ``RecordError`` without position; ``SourceFields/require(_:as:options:)`` adds the field and the record.
public protocol ConvertibleFromSource: SendableMetatype {
    /// Creates a value from a value of a record.
    /// - Throws: ``RecordError`` without a position if the value cannot be converted.
    init(source: JSONValue, options: ConversionOptions) throws
}

/// Options for the conversion of record values.
public struct ConversionOptions: Sendable, Hashable {
    /// The formats of dates, tried in order.
    public var dates: DateFormats
    /// A Boolean value that indicates whether numbers and Booleans are parsed from text, as required for CSV. The default is true.
    public var convertsText: Bool

    /// Creates options.
    public init(dates: DateFormats = .default, convertsText: Bool = true) {
        self.dates = dates
        self.convertsText = convertsText
    }

    /// The default options: ISO 8601 dates, and numbers parsed from text.
    public static let `default` = ConversionOptions()
}

extension RecordError {
    /// Returns the error for a value of the wrong type: "expected an integer, found the text "many"".
    public static func wrongType(expected: String, found value: JSONValue) -> RecordError {
        value.isNull
            ? RecordError(.nullValue, "expected \(expected), found null")
            : RecordError(.wrongType, "expected \(expected), found \(value.shortDescription)")
    }

    static func outOfRange(_ type: String, _ value: JSONValue) -> RecordError {
        RecordError(.outOfRange, "\(value.shortDescription) is out of the range of \(type)")
    }
}

extension JSONValue: ConvertibleFromSource {
    public init(source: JSONValue, options: ConversionOptions) { self = source }
}

extension JSONObject: ConvertibleFromSource {
    public init(source: JSONValue, options: ConversionOptions) throws {
        switch try source.parsedIfText(options) {
        case .object(let object): self = object
        default: throw RecordError.wrongType(expected: "an object", found: source)
        }
    }
}

extension String: ConvertibleFromSource {
    public init(source: JSONValue, options: ConversionOptions) throws {
        guard case .string(let text) = source else { throw RecordError.wrongType(expected: "text", found: source) }
        self = text
    }
}

extension Bool: ConvertibleFromSource {
    /// Creates a Boolean from `true` and `false`, from the numbers 1 and 0, and from the text true, yes, t, y, 1 and their opposites in any case.
    public init(source: JSONValue, options: ConversionOptions) throws {
        switch source {
        case .bool(let value):
            self = value
            return
        case .number(let number) where number == 1: self = true
        case .number(let number) where number == 0: self = false
        case .string(let text) where options.convertsText:
            switch text.lowercased() {
            case "true", "yes", "t", "y", "1": self = true
            case "false", "no", "f", "n", "0": self = false
            default: throw RecordError.wrongType(expected: "true or false", found: source)
            }
        default: throw RecordError.wrongType(expected: "true or false", found: source)
        }
    }
}
