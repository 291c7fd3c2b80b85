import Foundation

/// Decodes a `Decodable` from a value of a record.
///
/// Dates are read in the formats of the options, `Data` from base64, `Decimal` exactly. Numbers are parsed from text only if the options permit it.
struct RecordDecoder: Decoder {
    let value: JSONValue
    let options: ConversionOptions
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let object) = try own({ try value.parsedIfText(options) }) else { throw mismatch("an object") }
        return KeyedDecodingContainer(RecordKeyedContainer<Key>(object: object, decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = try own({ try value.parsedIfText(options) }) else { throw mismatch("an array") }
        return RecordUnkeyedContainer(elements: elements, decoder: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { RecordSingleContainer(decoder: self) }

    func at(_ key: some CodingKey, _ value: JSONValue) -> RecordDecoder {
        RecordDecoder(value: value, options: options, codingPath: codingPath + [key])
    }

    /// Returns the value as `T`, using the conversions of this module for JSON and Foundation types, and the type's own decoding for others.
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        // Avoids a separate decoder for each value of the dictionary.
        if type == [String: JSONValue].self, case .object(let object) = value, let result = object.dictionary as? T { return result }
        if type == Date.self || type == Data.self || type == URL.self || type == UUID.self || type == Decimal.self,
            let convertible = type as? any ConvertibleFromSource.Type, let result = try convert(convertible) as? T
        {
            return result
        }
        return try T(from: self)
    }

    func convert<T: ConvertibleFromSource>(_ type: T.Type) throws -> T {
        try own { try T(source: value, options: options) }
    }

    /// Performs a conversion and throws its error as a `DecodingError`, which custom `Decodable` implementations expect.
    private func own<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as RecordError {
            let context = DecodingError.Context(codingPath: codingPath, debugDescription: error.reason, underlyingError: error)
            throw error.code == .nullValue
                ? DecodingError.valueNotFound(T.self, context)
                : error.code == .wrongType ? DecodingError.typeMismatch(T.self, context) : DecodingError.dataCorrupted(context)
        }
    }

    func mismatch(_ expected: String) -> DecodingError {
        let error = RecordError.wrongType(expected: expected, found: value)
        return .typeMismatch(JSONValue.self, .init(codingPath: codingPath, debugDescription: error.reason, underlyingError: error))
    }
}

extension RecordError {
    /// Creates the error for a failed decoding, with the path of the field.
    init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            self.init(.missingField, "the field is missing", field: Self.path(context.codingPath + [key]))
        case .valueNotFound(_, let context): self.init(.nullValue, context)
        case .typeMismatch(_, let context): self.init(.wrongType, context)
        case .dataCorrupted(let context): self.init(.wrongType, context)
        @unknown default: self.init(.wrongType, "\(error)")
        }
    }

    private init(_ code: Code, _ context: DecodingError.Context) {
        let path = Self.path(context.codingPath)
        guard var error = context.underlyingError as? RecordError else {
            self.init(code, context.debugDescription, field: path)
            return
        }
        // The field of the underlying error is relative to the decoder's path.
        error.field = error.field.map { field in path.map { field.hasPrefix("[") ? $0 + field : $0 + "." + field } ?? field } ?? path
        self = error
    }

    private static func path(_ keys: [any CodingKey]) -> String? {
        keys.reduce(nil as String?) { path, key in
            if let index = key.intValue { return (path ?? "") + "[\(index)]" }
            return path.map { $0 + "." + key.stringValue } ?? key.stringValue
        }
    }
}

extension JSONValue {
    /// Decodes a value of type `T`.
    ///
    /// - Throws: ``RecordError`` with the path of the field.
    public func decode<T: Decodable>(_ type: T.Type = T.self, options: ConversionOptions = .default) throws -> T {
        do {
            return try RecordDecoder(value: self, options: options, codingPath: []).decode(type)
        } catch let error as DecodingError {
            throw RecordError(error)
        }
    }
}

extension SourceRecord {
    /// Decodes the record as a value of type `T`.
    ///
    /// Numbers and Booleans are parsed from text only if the source is untyped, as in CSV.
    ///
    /// - Throws: ``RecordError`` with the position of the record and the path of the field.
    public func decode<T: Decodable>(_ type: T.Type = T.self, dates: DateFormats = .default) throws -> T {
        do {
            return try JSONValue.object(fields).decode(type, options: ConversionOptions(dates: dates, convertsText: isUntyped))
        } catch let error as RecordError {
            throw error.at(position)
        }
    }
}
