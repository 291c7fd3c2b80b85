import Foundation

extension Date: ConvertibleFromSource {
    /// Creates a date in the first matching format of `options.dates`.
    public init(source: JSONValue, options: ConversionOptions) throws {
        self = try options.dates.date(from: source)
    }
}

extension Data: ConvertibleFromSource {
    /// Creates data from text in base64, with or without line breaks.
    public init(source: JSONValue, options: ConversionOptions) throws {
        guard case .string(let text) = source else { throw RecordError.wrongType(expected: "data in base64", found: source) }
        if let data = Data(base64Encoded: text) {
            self = data
            return
        }
        let joined = text.filter { !$0.isNewline }
        guard joined.utf8.count < text.utf8.count, let data = Data(base64Encoded: joined) else {
            throw RecordError.wrongType(expected: "data in base64", found: source)
        }
        self = data
    }
}

extension UUID: ConvertibleFromSource {
    /// Creates a UUID from text.
    public init(source: JSONValue, options: ConversionOptions) throws {
        guard case .string(let text) = source, let uuid = UUID(uuidString: text) else {
            throw RecordError.wrongType(expected: "a UUID", found: source)
        }
        self = uuid
    }
}

extension URL: ConvertibleFromSource {
    /// Creates a URL from text.
    public init(source: JSONValue, options: ConversionOptions) throws {
        guard case .string(let text) = source, let url = URL(string: text) else {
            throw RecordError.wrongType(expected: "a URL", found: source)
        }
        self = url
    }
}
