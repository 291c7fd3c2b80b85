import Foundation
import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreFormats
import PolyStoreKernel

extension Model {
    /// Encodes the object's stored values, as its snapshot does: `try JSONEncoder().encode(person)`. Those of related objects are not included; a transaction's
    /// unsaved values are. A class can have an `encode(to:)` of its own.
    public func encode(to encoder: any Encoder) throws { try snapshot().encode(to: encoder) }
}

/// Encodes a keyed container: the object's URI under `objectID`, and every value under its stored name. Null is encoded as null, a to-one relationship as the
/// URI of its object, and a `Codable` value as a nested value. Dates and data follow the strategies of the encoder and decoder.
///
/// Decoding finds the store in the stack of ``CodingUserInfoKey/dataStack``, or in ``DataStack/default``. The snapshot does not contain values that are missing
/// in the container.
extension ObjectSnapshot: Codable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }

        static var objectID: Key { Key(stringValue: "objectID") }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(id, forKey: .objectID)
        let entry = shape.entry(row)
        for (name, value) in namedValues {
            let key = Key(stringValue: name)
            switch value {
            case nil: try container.encodeNil(forKey: key)
            case .bool(let value): try container.encode(value, forKey: key)
            case .integer(let value): try container.encode(value, forKey: key)
            case .unsigned(let value): try container.encode(value, forKey: key)
            case .real(let value): try container.encode(value, forKey: key)
            case .text(let value) where entry.entity.field(named: name)?.type == .json:
                try container.encode(JSONValue(parsing: Array(value.utf8)), forKey: key)
            case .text(let value): try container.encode(value, forKey: key)
            case .date(let value): try container.encode(value, forKey: key)
            case .data(let value): try container.encode(value, forKey: key)
            case .uuid(let value): try container.encode(value, forKey: key)
            case .url(let value): try container.encode(value, forKey: key)
            case .decimal(let value): try container.encode(value, forKey: key)
            case .objectID(let value): try container.encode(value.uri, forKey: key)
            }
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let stack = try decoder.dataStack()
        let id = try container.decode(ObjectID<T>.self, forKey: .objectID)
        let table = stack.core.table.withLock { $0 }
        let entry = id.entry
        let whole = SnapshotShape(table: table, fields: nil, logger: stack.logger)
        let arena = RecordArena(capacity: 512)
        var builder = RecordBuilder(arena)
        builder.begin(entry.entity.layout)
        var fields = FieldMask()
        let declared = whole.fields(of: entry, as: T.self)
        for field in declared {
            let key = Key(stringValue: field.name)
            guard container.contains(key) else { continue }
            fields.insert(field.index)
            if try container.decodeNil(forKey: key) { continue }
            try builder.set(field, try Self.value(of: field, entry, table, container, key, decoder))
        }
        self.init(
            shape: declared.allSatisfy { fields.contains($0.index) }
                ? whole : SnapshotShape(table: table, fields: fields, logger: stack.logger),
            row: RowReference(entityIndex: entry.entityIndex, rowID: id.rowID),
            record: try withExtendedLifetime(arena) { [UInt8](try builder.finishedView().bytes) })
    }

    private static func value(
        of field: Field, _ entry: StoreEntity, _ table: StoreTable, _ container: KeyedDecodingContainer<Key>, _ key: Key,
        _ decoder: any Decoder
    ) throws -> Value {
        func decoded<V: AttributeValue & Decodable>(_ type: V.Type) throws -> Value {
            try container.decode(type, forKey: key).attributeValue
        }
        if let relationship = field.relationship {
            func rowID<D: Model>(_ type: D.Type, _ uri: String) throws -> Int64 { try decoder.objectID(uri, of: type).rowID }
            let target: any Model.Type = table.entries[Int(entry.destinations[relationship])].type
            return .integer(try rowID(target, try container.decode(String.self, forKey: key)))
        }
        switch field.type {
        case .bool: return try decoded(Bool.self)
        case .int8: return try decoded(Int8.self)
        case .int16: return try decoded(Int16.self)
        case .int32: return try decoded(Int32.self)
        case .int64: return try decoded(Int64.self)
        case .uint8: return try decoded(UInt8.self)
        case .uint16: return try decoded(UInt16.self)
        case .uint32: return try decoded(UInt32.self)
        case .uint64: return try decoded(UInt64.self)
        case .float: return try decoded(Float.self)
        case .double: return try decoded(Double.self)
        case .date: return try decoded(Date.self)
        case .decimal: return try decoded(Decimal.self)
        case .string: return try decoded(String.self)
        case .url: return try decoded(URL.self)
        case .data: return try decoded(Data.self)
        case .uuid: return try decoded(UUID.self)
        case .json: return .text(try container.decode(JSONValue.self, forKey: key).description)
        }
    }
}
