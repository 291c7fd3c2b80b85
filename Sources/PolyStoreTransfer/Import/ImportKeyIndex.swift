import PolyStoreBackend
import PolyStoreKernel

/// A hash table of the unique ids of an import call and their positions, which supports lookups by id and by record.
///
/// It hashes short ids faster than a dictionary and does not create a value for each record.
@usableFromInline
struct ImportKeyIndex {
    /// The ids, by position.
    private(set) var keys: [ImportKey] = []
    /// The hashes of the ids, by position.
    private var hashes: [UInt64] = []
    /// The positions of the ids in an open-addressing table with linear probing; −1 for an empty slot. The count is a power of two.
    private var slots: [Int32] = []

    /// The number of ids.
    @usableFromInline var count: Int { keys.count }

    /// Returns the id at a position.
    func key(at position: Int) -> ImportKey { keys[position] }

    init(capacity: Int = 0) { reserveCapacity(capacity) }

    init(_ keys: some Sequence<ImportKey>) {
        self.init(capacity: keys.underestimatedCount)
        for key in keys { _ = insert(key) }
    }

    /// Reserves capacity for a number of ids.
    @usableFromInline
    mutating func reserveCapacity(_ capacity: Int) {
        keys.reserveCapacity(capacity)
        hashes.reserveCapacity(capacity)
        if capacity > 0 { rehash(capacity) }
    }

    /// Returns the position of an id, inserting it if it is new.
    @usableFromInline
    mutating func insert(_ key: ImportKey) -> Int {
        if (keys.count + 1) * 2 > slots.count { rehash(2 * keys.count + 8) }
        let hash = ImportKeyHash.of(key)
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] >= 0 {
            let position = Int(slots[slot])
            if hashes[position] == hash, keys[position] == key { return position }
            slot = (slot + 1) & (slots.count - 1)
        }
        slots[slot] = Int32(keys.count)
        keys.append(key)
        hashes.append(hash)
        return keys.count - 1
    }

    private mutating func rehash(_ capacity: Int) {
        var size = 16
        while size < 2 * capacity { size *= 2 }
        guard size > slots.count else { return }
        slots = Array(repeating: -1, count: size)
        for (position, hash) in hashes.enumerated() {
            var slot = Int(truncatingIfNeeded: hash) & (size - 1)
            while slots[slot] >= 0 { slot = (slot + 1) & (size - 1) }
            slots[slot] = Int32(position)
        }
    }

    /// Returns the position of an id.
    func position(of key: ImportKey) -> Int? { position(ImportKeyHash.of(key)) { $0 == key } }

    /// Returns the position of the id in a record.
    /// - Parameter fields: The fields of the id, in order.
    func position(of record: RecordView, _ fields: [Field]) -> Int? {
        guard fields.count == 1, !record.isNull(fields[0].index) else { return position(of: ImportKey(fields.map { record.value($0) })) }
        let field = fields[0].index
        switch fields[0].type.physical {
        case .text:
            let text = record.bytes(field)
            return position(ImportKeyHash.of(text)) { $0.isText(text) }
        case .integer, .real, .blob: return position(of: ImportKey(record.value(fields[0])))
        }
    }

    private func position(_ hash: UInt64, _ isEqual: (ImportKey) -> Bool) -> Int? {
        guard !slots.isEmpty else { return nil }
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] >= 0 {
            let position = Int(slots[slot])
            if hashes[position] == hash, isEqual(keys[position]) { return position }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }
}

/// A fast hash of unique ids, seeded per process so that sources cannot cause collisions.
private enum ImportKeyHash {
    private static let seed = UInt64.random(in: 1 ... .max)

    static func of(_ key: ImportKey) -> UInt64 {
        switch key {
        case .integer(let value): return mix(UInt64(bitPattern: value) ^ seed)
        case .text(let text):
            if let hash = text.utf8.withContiguousStorageIfAvailable({ of(UnsafeRawBufferPointer($0)) }) { return hash }
            var copy = text
            return copy.withUTF8 { of(UnsafeRawBufferPointer($0)) }
        case .other, .compound: return UInt64(bitPattern: Int64(key.hashValue))
        }
    }

    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = seed &+ UInt64(bytes.count)
        var offset = 0
        while offset + 8 <= bytes.count {
            hash = mix(hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        return mix(hash ^ rest)
    }

    /// Returns the halves of a 128-bit product combined.
    private static func mix(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
        return product.high ^ product.low &+ seed
    }
}
