import PolyStoreBackend
import PolyStoreQuery

/// An index of an entity and the encoding of its keys.
final class KeyIndex: Sendable {
    let index: Index
    let entity: Entity
    let number: UInt32
    /// The components as fields; see `IndexedJSONField`.
    let fields: [Field]
    /// The reader of each component that is a field of a JSON attribute; empty if none is.
    private let readers: [JSONFieldReader?]
    /// For each component, the number of bytes to reserve for the following ones.
    let reserves: [Int]
    var isUnique: Bool { index.isUnique }
    var space: Keyspace { index.isUnique ? .uniqueIndex : .index }
    /// The bytes that the keys begin with, as a number: the space and the number of the index.
    var beginning: UInt64 { UInt64(space.rawValue) << 32 | UInt64(number) }
    /// The fields of the record that determine the entries.
    let mask: FieldMask
    /// The fields of the record whose values the entries contain.
    let covered: FieldMask
    /// A Boolean value that indicates whether a component has variable length, so that it can be truncated.
    let hasVariableFields: Bool

    /// - Throws: `unsupported` if the fields do not fit in a key.
    init(_ index: Index, _ entity: Entity, number: UInt32) throws {
        self.index = index
        self.entity = entity
        self.number = number
        fields = index.parts.map { entity.field(of: $0) }
        readers = index.readsJSON ? index.parts.map { $0.json.map { JSONFieldReader($0) } } : []
        var mask = FieldMask()
        for field in index.fields { mask.insert(field) }
        self.mask = mask
        var covered = FieldMask()
        for part in index.parts where part.json == nil { covered.insert(part.field) }
        self.covered = covered
        hasVariableFields = fields.contains { $0.type.fixedWidth == 0 && $0.type != .uuid && $0.type != .decimal }
        var reserve = 8
        var reserves: [Int] = []
        for field in fields.reversed() {
            reserves.append(reserve)
            reserve += Self.leastRoom(field.type)
        }
        self.reserves = reserves.reversed()
        guard reserve <= KeyWriter.longestKey - 5 else {
            throw StoreError(
                .unsupported,
                "The index \(index.name) has \(fields.count) fields, which together have no room in a key of \(KeyWriter.longestKey) bytes. Index fewer.",
                entity: entity.name)
        }
    }

    private static func leastRoom(_ type: AttributeType) -> Int {
        switch type {
        case .bool: 1
        case .decimal: 26
        case .uuid: 17
        case .string, .url, .json, .data: 20
        default: 9
        }
    }

    /// The typical size of an entry in bytes, for reserving memory.
    var likelyKeySize: Int { 21 + fields.reduce(0) { $0 + ($1.type.fixedWidth > 0 ? 9 : 24) } }

    /// Encodes the components of a record's entry.
    /// - Returns: whether a component is null.
    private func components(_ record: RecordView, _ keys: KeyWriter) -> Bool {
        keys.begin(space, number)
        if !readers.isEmpty {
            append(record, keys)
            // Not unique, so that null has no effect.
            return false
        }
        var hasNull = false
        for (position, field) in fields.enumerated() {
            if record.isNull(field.index) { hasNull = true }
            keys.append(field, of: record, reserve: reserves[position])
        }
        return hasNull
    }

    /// Appends the components of an index with fields of JSON attributes.
    private func append(_ record: RecordView, _ keys: KeyWriter) {
        for (position, part) in index.parts.enumerated() {
            guard let reader = readers[position] else {
                keys.append(fields[position], of: record, reserve: reserves[position])
                continue
            }
            let value = record.isNull(part.field) ? .null : reader.value(in: record.bytes(part.field))
            keys.append(value, type: fields[position].type, reserve: reserves[position])
        }
    }

    /// Encodes the key of a record's entry; `keys.isCut` indicates whether it was truncated.
    /// - Returns: whether the key alone must be unique.
    @discardableResult
    func key(_ record: RecordView, _ id: Int64, _ keys: KeyWriter) -> Bool {
        let hasNull = components(record, keys)
        // An entry that need not be unique, or whose key is truncated, is made unique by the row id.
        if isUnique && !hasNull && !keys.isCut { return true }
        keys.append(id: id)
        return false
    }

    /// Returns the values that must be unique; `nil` if a null exempts the object, or if the index is not unique.
    func uniqueValues(_ record: RecordView) -> [Value]? {
        guard isUnique, !fields.contains(where: { record.isNull($0.index) }) else { return nil }
        return fields.map { record.value($0) }
    }

    /// Returns the row id of an entry; `nil` for invalid bytes.
    @inline(__always)
    func id(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Int64? {
        if isUnique { return value.count == 8 ? value.id(at: 0) : nil }
        return key.count > 13 ? key.id(at: key.count - 8) : nil
    }

    /// Returns the offset at which the components of an entry end.
    func componentsEnd(_ key: UnsafeRawBufferPointer) throws -> Int {
        if !isUnique { return key.count - 8 }
        var reader = KeyReader(key, from: 5)
        for _ in fields { _ = try reader.readComponent() }
        return reader.position
    }

    var prefix: [UInt8] { [space.rawValue] + BigEndianInteger.bytes(number) }
    var range: KeyRange { KeyRange(prefix: prefix) }
}
