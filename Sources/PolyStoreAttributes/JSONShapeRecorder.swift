import Foundation
import PolyStoreBackend

/// A decoder that records what a type requests, and answers with sample values that differ.
final class JSONShapeRecorder: Decoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    fileprivate(set) var form: JSONShape.Form = .unknown
    fileprivate(set) var isDeclared: @Sendable (String) -> Bool = { _ in false }
    fileprivate(set) var members: [String: any Decodable.Type] = [:]
    /// The sample of each key with a single value.
    fileprivate(set) var samples: [String: (value: Value, type: AttributeType)] = [:]
    private var count = 0
    private let depth: Int

    init(depth: Int = 0) { self.depth = depth }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        form = .object
        isDeclared = { Key(stringValue: $0) != nil }
        return KeyedDecodingContainer(Keyed<Key>(recorder: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer {
        form = .array
        return Elements()
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { Single(recorder: self) }

    /// The attribute type of a type that the JSON coding writes as a single value; nil for others.
    static func special(_ type: Any.Type) -> AttributeType? {
        switch type {
        case is Bool.Type: .bool
        case is String.Type: .string
        case is Int.Type, is Int64.Type: .int64
        case is Int8.Type: .int8
        case is Int16.Type: .int16
        case is Int32.Type: .int32
        case is UInt.Type, is UInt64.Type: .uint64
        case is UInt8.Type: .uint8
        case is UInt16.Type: .uint16
        case is UInt32.Type: .uint32
        case is Double.Type: .double
        case is Float.Type: .float
        case is Date.Type: .date
        case is Data.Type: .data
        case is UUID.Type: .uuid
        case is URL.Type: .url
        case is Decimal.Type: .decimal
        default: nil
        }
    }

    /// Returns a value as a physical value; nil for types that are not stored as a single value.
    static func value(_ value: Any) -> Value? {
        guard special(type(of: value)) != nil || value is any OptionalType else { return nil }
        return (value as? any AttributeValue)?.attributeValue
    }

    /// Returns a sample value.
    fileprivate func sample<T: Decodable>(_ type: T.Type) throws -> T {
        count += 1
        guard depth < 8 else { throw Unknown() }
        if let attribute = Self.special(type) {
            let number = UInt8(truncatingIfNeeded: count & 0x3f | 0x40)
            let sample: Any? =
                switch attribute {
                case .bool: true
                case .string: "sample \(number)"
                case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: (type as? any FixedWidthInteger.Type)?.init(number)
                case .double: Double(number)
                case .float: Float(number)
                case .date: Date(timeIntervalSinceReferenceDate: Double(number))
                case .data: Data([number])
                case .uuid: UUID(uuid: (number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
                case .url: URL(string: "sample:\(number)")
                case .decimal: Decimal(Int(number))
                case .json: nil
                }
            if let sample = sample as? T { return sample }
            throw Unknown()
        }
        if let cases = type as? any CaseIterable.Type, let first = cases.allCases.first(where: { _ in true }) as? T { return first }
        do {
            return try T(from: JSONShapeRecorder(depth: depth + 1))
        } catch {
            guard let first = Self.firstCase(type) else { throw error }
            return first
        }
    }

    /// Returns the first case of an enum whose raw values are unknown; nil for other types.
    private static func firstCase<T>(_ type: T.Type) -> T? {
        guard T.self is any RawRepresentable.Type, _isPOD(T.self), MemoryLayout<T>.size <= 1 else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { byte in
            byte.initializeMemory(as: UInt8.self, repeating: 0)
            // Every type of one byte without references has a value with this representation: the cases of an enum are numbered from 0.
            return byte.load(as: T.self)
        }
    }

    /// Records the request of a key and returns a sample value.
    fileprivate func member<T: Decodable>(_ type: T.Type, _ key: any CodingKey) throws -> T {
        if members[key.stringValue] == nil { members[key.stringValue] = (type as? any OptionalDecodable.Type)?.wrappedDecodable ?? type }
        let sample = try sample(type)
        if let attribute = Self.special(type), let value = (sample as? any AttributeValue)?.attributeValue {
            samples[key.stringValue] = (value, attribute)
        }
        return sample
    }

    /// Records the request of a single value and returns a sample value.
    fileprivate func single<T: Decodable>(_ type: T.Type) throws -> T {
        if case .unknown = form { form = .single(Self.special(type)) }
        return try sample(type)
    }

    /// The error of a type without a known sample value.
    struct Unknown: Error {}
}

private protocol OptionalDecodable {
    static var wrappedDecodable: any Decodable.Type { get }
}
extension Optional: OptionalDecodable where Wrapped: Decodable {
    static var wrappedDecodable: any Decodable.Type { Wrapped.self }
}

private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let recorder: JSONShapeRecorder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { false }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try recorder.member(type, key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try recorder.member(type, key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try recorder.member(type, key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try recorder.member(type, key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try recorder.member(type, key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try recorder.member(type, key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try recorder.member(type, key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try recorder.member(type, key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try recorder.member(type, key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try recorder.member(type, key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try recorder.member(type, key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try recorder.member(type, key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try recorder.member(type, key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try recorder.member(type, key) }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try recorder.member(type, key) }
    // Without a sample value, nil is one.
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? { try? recorder.member(type, key) }

    func nestedContainer<Other: CodingKey>(keyedBy type: Other.Type, forKey key: Key) throws -> KeyedDecodingContainer<Other> {
        KeyedDecodingContainer(Keyed<Other>(recorder: JSONShapeRecorder()))
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { Elements() }
    func superDecoder() throws -> any Decoder { recorder }
    func superDecoder(forKey key: Key) throws -> any Decoder { JSONShapeRecorder() }
}

private struct Single: SingleValueDecodingContainer {
    let recorder: JSONShapeRecorder
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }
    func decode(_ type: Bool.Type) throws -> Bool { try recorder.single(type) }
    func decode(_ type: String.Type) throws -> String { try recorder.single(type) }
    func decode(_ type: Double.Type) throws -> Double { try recorder.single(type) }
    func decode(_ type: Float.Type) throws -> Float { try recorder.single(type) }
    func decode(_ type: Int.Type) throws -> Int { try recorder.single(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try recorder.single(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try recorder.single(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try recorder.single(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try recorder.single(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try recorder.single(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try recorder.single(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try recorder.single(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try recorder.single(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try recorder.single(type) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try recorder.single(type) }
}

/// An array without elements.
private struct Elements: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }
    var currentIndex: Int { 0 }

    func decodeNil() throws -> Bool { throw JSONShapeRecorder.Unknown() }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { throw JSONShapeRecorder.Unknown() }
    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw JSONShapeRecorder.Unknown() }
    func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw JSONShapeRecorder.Unknown() }
    func superDecoder() throws -> any Decoder { throw JSONShapeRecorder.Unknown() }
}
