import Foundation
import PolyStoreBackend
public import PolyStoreKernel

extension QueryRow {
    /// Decodes the row to a `Decodable` type, whose keys are the names of the values.
    ///
    ///     let people = try context.queryAttributes(From<Person>(), Select("name", "age")).map { try $0.decode(Row.self) }
    ///
    /// - Throws: `invalidValue` with the name of the value that is missing or does not fit.
    public func decode<Row: Decodable>(_ type: Row.Type) throws -> Row { try RowDecoder.decode(type, self, keys.sorted(), nil) }
}

/// Decodes a row of a query to a `Decodable` type.
///
/// A property is the value with its name. Values of ``QueryResult`` types and of enums over them are converted as in a selection; other types, such as a nested
/// struct, are decoded from JSON text.
struct RowDecoder: Decoder {
    fileprivate let row: QueryRow
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// - Throws: `invalidValue` with the name of the value that is missing or does not fit.
    static func decode<Value: Decodable>(_ type: Value.Type, _ row: QueryRow, _ names: [String], _ entity: String?) throws -> Value {
        do {
            // One column alone can be a row.
            let decoder = ResultDecoder(of: type)
            if names.count == 1, decoder.isScalar {
                let found = try row.first.flatMap { try decoder.decode($0.value, nil) }
                if let value = found as? Value, found != nil || decoder.isOptional && row.isEmpty { return value }
                throw StoreError(
                    .invalidValue, "\(names[0]) is \(row.first.map { "\($0.value)" } ?? "null"), which is no \(type).", entity: entity)
            }
            return try Value(from: RowDecoder(row: row))
        } catch let error as DecodingError {
            throw StoreError(
                .invalidValue, "A row does not fit \(type): \(describe(error)) The row has \(names.joined(separator: ", ")).",
                entity: entity, underlying: "\(error)")
        }
    }

    private static func describe(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "it has no \"\(key.stringValue)\"."
        case .valueNotFound(let type, let context): "\"\(name(context))\" is null, and \(type) is not optional."
        case .typeMismatch(let type, let context): "\"\(name(context))\" is no \(type)."
        case .dataCorrupted(let context): "\"\(name(context))\" cannot be decoded."
        @unknown default: "it cannot be decoded."
        }
    }

    private static func name(_ context: DecodingError.Context) -> String { context.codingPath.last?.stringValue ?? "" }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Container(row: row))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw unsupported }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw unsupported }

    private var unsupported: DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: "A row of several values is decoded by their names."))
    }

    private struct Container<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let row: QueryRow
        let codingPath: [any CodingKey] = []

        var allKeys: [Key] { row.keys.compactMap { Key(stringValue: $0) } }

        func contains(_ key: Key) -> Bool { row[key.stringValue] != nil }
        func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }

        private func context(_ key: Key) -> DecodingError.Context { DecodingError.Context(codingPath: [key], debugDescription: "") }

        private func value(_ key: Key, _ type: Any.Type) throws -> QueryValue {
            guard let value = row[key.stringValue] else { throw DecodingError.valueNotFound(type, context(key)) }
            return value
        }

        private func result<V: QueryResult>(_ type: V.Type, _ key: Key) throws -> V {
            guard let found = V.decodeQueryValue(try value(key, type)) else { throw DecodingError.typeMismatch(type, context(key)) }
            return found
        }

        func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try result(type, key) }
        func decode(_ type: String.Type, forKey key: Key) throws -> String { try result(type, key) }
        func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try result(type, key) }
        func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try result(type, key) }
        func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try result(type, key) }
        func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try result(type, key) }
        func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try result(type, key) }
        func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try result(type, key) }
        func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try result(type, key) }
        func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try result(type, key) }
        func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try result(type, key) }
        func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try result(type, key) }
        func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try result(type, key) }
        func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try result(type, key) }

        func decode<V: Decodable>(_ type: V.Type, forKey key: Key) throws -> V {
            func raw<R: RawRepresentable>(_ type: R.Type, _ value: QueryValue) -> Any? {
                (R.RawValue.self as? any QueryResult.Type).flatMap { $0.decodeQueryValue(value) as? R.RawValue }.flatMap(R.init(rawValue:))
            }
            let value = try value(key, type)
            let found: Any?
            if let type = type as? any QueryResult.Type {
                found = type.decodeQueryValue(value)
            } else if let type = type as? any RawRepresentable.Type {
                found = raw(type, value)
            } else if let text = value.string {
                found = try JSONDecoder().decode(V.self, from: Data(text.utf8))
            } else {
                found = nil
            }
            guard let found = found as? V else { throw DecodingError.typeMismatch(type, context(key)) }
            return found
        }

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
            throw DecodingError.typeMismatch(type, context(key))
        }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            throw DecodingError.typeMismatch([Any].self, context(key))
        }
        func superDecoder() throws -> any Decoder { RowDecoder(row: row) }
        func superDecoder(forKey key: Key) throws -> any Decoder { RowDecoder(row: row) }
    }
}
