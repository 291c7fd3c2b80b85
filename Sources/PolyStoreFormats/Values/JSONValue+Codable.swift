import Foundation

/// Decodes any value. Foundation's `JSONDecoder` preserves neither the order of fields nor more digits than a `Decimal` has.
extension JSONValue: Codable {
    public init(from decoder: any Decoder) throws {
        if let own = decoder as? RecordDecoder {
            self = own.value
            return
        }
        if let container = try? decoder.container(keyedBy: AnyCodingKey.self) {
            var object = JSONObject()
            for key in container.allKeys { object[key.stringValue] = try container.decode(JSONValue.self, forKey: key) }
            self = .object(object)
            return
        }
        if var container = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
            self = .array(elements)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else {
            self = .number(try container.decode(JSONNumber.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let object): try object.encode(to: encoder)
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .number(let number): try number.encode(to: encoder)
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .string(let text):
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }
}

extension JSONObject: Codable {
    public init(from decoder: any Decoder) throws {
        guard case .object(let object) = try JSONValue(from: decoder) else {
            throw DecodingError.typeMismatch(JSONObject.self, .init(codingPath: decoder.codingPath, debugDescription: "expected an object"))
        }
        self = object
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyCodingKey.self)
        for (key, value) in self { try container.encode(value, forKey: AnyCodingKey(stringValue: key)) }
    }
}

extension JSONNumber: Codable {
    public init(from decoder: any Decoder) throws {
        if let own = decoder as? RecordDecoder {
            guard case .number(let number) = own.value else { throw own.mismatch("a number") }
            self = number
            return
        }
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Int64.self) {
            self.init(value)
        } else if let value = try? container.decode(UInt64.self) {
            self.init(value)
        } else if let value = try? container.decode(Decimal.self), let number = JSONNumber(value) {
            self = number
        } else if let number = JSONNumber(try container.decode(Double.self)) {
            self = number
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "NaN and infinity are not numbers of JSON")
        }
    }

    /// Encodes an integer, a `Decimal` or a `Double`, whichever represents the number exactly.
    ///
    /// - Throws: `EncodingError` if none does.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value = int64 {
            try container.encode(value)
        } else if let value = uint64 {
            try container.encode(value)
        } else if let value = double, JSONNumber(value) == self {
            try container.encode(value)
        } else if let value = decimal {
            try container.encode(value)
        } else {
            throw EncodingError.invalidValue(
                self, .init(codingPath: encoder.codingPath, debugDescription: "\(text) fits neither Int64, UInt64, Double nor Decimal"))
        }
    }
}

/// A coding key with any name or index.
struct AnyCodingKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}
