import PolyStoreBackend

/// The stored form of a record: the record sealed with two checksums (``RecordChecksum``). A field of variable length that exceeds the engine's largest piece
/// is empty in the record and stored in chunks. A list after the record contains the chunked fields and their lengths:
///
///     record | (u32 field | u64 length) per chunked field | u32 number of them | u32 second checksum
enum StoredRecord {
    /// The record flag that indicates a list of chunked fields.
    static let chunkedFlag: UInt8 = 2
    private static let entrySize = 12

    struct Chunked {
        let field: Int
        let length: Int
    }

    /// Returns the record and the list, without the checksum after them.
    static func body(_ stored: UnsafeRawBufferPointer, _ traits: EngineTraits) -> UnsafeRawBufferPointer {
        guard traits.checksumsRecords else { return stored }
        return UnsafeRawBufferPointer(start: stored.baseAddress, count: max(0, stored.count - RecordChecksum.tailSize))
    }

    /// Returns the chunked fields, and the length of the record without the list. Total: returns `nil` for an invalid list.
    /// - Parameter types: The types of the fields of the record's layout.
    static func chunked(_ stored: UnsafeRawBufferPointer, _ types: [AttributeType]) -> (fields: [Chunked], recordCount: Int)? {
        guard stored.count >= 4 else { return nil }
        let number = Int(UInt32(littleEndian: stored.loadUnaligned(fromByteOffset: stored.count - 4, as: UInt32.self)))
        let listSize = number * entrySize + 4
        guard number > 0, number <= types.count, listSize < stored.count else { return nil }
        var fields: [Chunked] = []
        var at = stored.count - listSize
        for _ in 0..<number {
            let field = Int(UInt32(littleEndian: stored.loadUnaligned(fromByteOffset: at, as: UInt32.self)))
            let length = UInt64(littleEndian: stored.loadUnaligned(fromByteOffset: at + 4, as: UInt64.self))
            guard field < types.count, types[field].fixedWidth == 0, length <= UInt64(UInt32.max) else { return nil }
            fields.append(Chunked(field: field, length: Int(length)))
            at += entrySize
        }
        return (fields, stored.count - listSize)
    }

    /// Returns the layout number in a record's header; 0 for bytes that are too short to have one.
    @inline(__always)
    static func layoutNumber(_ stored: UnsafeRawBufferPointer) -> UInt16 {
        stored.count >= 4 ? UInt16(littleEndian: stored.loadUnaligned(fromByteOffset: 2, as: UInt16.self)) : 0
    }

    /// Sets the layout number of a record that was built in an arena.
    static func setLayout(_ number: UInt16, _ start: Int, in arena: RecordArena) {
        guard number != 0 else { return }
        let header = UnsafeMutableRawBufferPointer(mutating: arena.bytes(start, 4))
        header.storeBytes(of: number.littleEndian, toByteOffset: 2, as: UInt16.self)
    }

    static func isChunked(_ stored: UnsafeRawBufferPointer) -> Bool { stored.count > 1 && stored[1] & chunkedFlag != 0 }

    /// Appends the stored form of a record to an arena.
    /// - Parameters:
    ///   - number: The layout number of the record's header.
    ///   - chunk: Receives each piece of each chunked field.
    /// - Returns: the number of bytes appended.
    static func append(
        _ record: RecordView, _ entity: Entity, number: UInt16, key: UnsafeRawBufferPointer, traits: EngineTraits, to arena: RecordArena,
        chunk: (_ field: Int, _ number: Int, _ bytes: UnsafeRawBufferPointer) -> Void
    ) throws -> Int {
        let start = arena.count
        var count = record.count
        if count <= traits.largestPiece {
            _ = arena.append(record.bytes)
        } else {
            count = try appendLong(record, entity, traits, arena, chunk)
        }
        setLayout(number, start, in: arena)
        if traits.checksumsRecords { count = seal(start, in: arena, head: entity.layout.minimumSize, key: key) }
        return count
    }

    /// Seals the record at the end of an arena.
    /// - Parameter start: The offset of the record in the arena.
    /// - Returns: the number of bytes of the sealed record.
    static func seal(_ start: Int, in arena: RecordArena, head: Int, key: UnsafeRawBufferPointer) -> Int {
        withUnsafeBytes(of: UInt32(0)) { _ = arena.append($0) }
        let count = arena.count - start
        RecordChecksum.seal(UnsafeMutableRawBufferPointer(mutating: arena.bytes(start, count)), head: head, key: key)
        return count
    }

    private static func appendLong(
        _ record: RecordView, _ entity: Entity, _ traits: EngineTraits, _ arena: RecordArena,
        _ chunk: (Int, Int, UnsafeRawBufferPointer) -> Void
    ) throws -> Int {
        let start = arena.count
        var builder = RecordBuilder(arena)
        builder.begin(entity.layout)
        var long: [Chunked] = []
        for field in entity.fields {
            guard field.type.fixedWidth == 0, !record.isNull(field.ordinal), record.bytes(field.ordinal).count > traits.largestPiece else {
                builder.copy(field, from: record)
                continue
            }
            let bytes = record.bytes(field.ordinal)
            builder.setBytes(field.ordinal, UnsafeRawBufferPointer(start: nil, count: 0))
            long.append(Chunked(field: field.ordinal, length: bytes.count))
            var at = 0
            while at < bytes.count {
                let end = min(at + traits.largestPiece, bytes.count)
                chunk(field.ordinal, at / traits.largestPiece, UnsafeRawBufferPointer(rebasing: bytes[at..<end]))
                at = end
            }
        }
        _ = try builder.finish()
        guard !long.isEmpty else { return arena.count - start }
        for entry in long {
            withUnsafeBytes(of: UInt32(entry.field).littleEndian) { _ = arena.append($0) }
            withUnsafeBytes(of: UInt64(entry.length).littleEndian) { _ = arena.append($0) }
        }
        withUnsafeBytes(of: UInt32(long.count).littleEndian) { _ = arena.append($0) }
        let bytes = UnsafeMutableRawBufferPointer(mutating: arena.bytes(start, arena.count - start))
        bytes[1] |= chunkedFlag
        return arena.count - start
    }
}

/// A piece of a long value: its bytes, followed by the CRC-32C of the key and the bytes if the engine requires checksums.
enum Chunk {
    static func seal(_ bytes: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ traits: EngineTraits, into arena: RecordArena) -> Int
    {
        let start = arena.append(bytes)
        guard traits.checksumsRecords else { return bytes.count }
        let sum = RecordChecksum.crc32c(key, arena.bytes(start, bytes.count))
        withUnsafeBytes(of: sum.littleEndian) { _ = arena.append($0) }
        return bytes.count + 4
    }

    /// - Returns: `nil` for a damaged piece.
    static func open(_ stored: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ traits: EngineTraits) -> UnsafeRawBufferPointer? {
        guard traits.checksumsRecords else { return stored }
        guard stored.count >= 4 else { return nil }
        let bytes = UnsafeRawBufferPointer(rebasing: stored[0..<(stored.count - 4)])
        let sum = UInt32(littleEndian: stored.loadUnaligned(fromByteOffset: bytes.count, as: UInt32.self))
        return sum == RecordChecksum.crc32c(key, bytes) ? bytes : nil
    }
}

/// Decodes stored records: verifies checksums and assembles chunked fields.
final class RecordDecoder {
    private let store: StoreLayout
    private let arena = RecordArena(capacity: 256)
    private let copy = RecordArena(capacity: 256)
    private let keys = KeyWriter()

    private let isChecked: Bool
    private let staysPut: Bool
    private let isMigrated: Bool
    /// The most recently used old layout. Used by one thread; each access is a single load or store.
    @exclusivity(unchecked) private var lastOld: (entity: Int, number: UInt16, layout: OldLayout)?

    init(_ store: StoreLayout) {
        self.store = store
        isMigrated = store.isMigrated
        isChecked = store.traits.checksumsRecords
        staysPut = store.traits.valuesStay
    }

    /// Decodes a record that a lookup returned.
    /// - Returns: the record, which is valid until the next call, and as long as the engine keeps values in place.
    @inline(__always)
    func decode(
        found stored: UnsafeRawBufferPointer, _ entity: Entity, _ id: Int64, key: UnsafeRawBufferPointer, _ snapshot: any EngineSnapshot
    )
        throws -> RecordView
    {
        if staysPut { return try decode(stored, entity, id, key: key, snapshot) }
        copy.removeAll()
        let offset = copy.append(stored)
        return try decode(copy.bytes(offset, stored.count), entity, id, key: key, snapshot)
    }

    /// - Returns: the record, which is valid until the next call and as long as the stored bytes.
    /// - Throws: `corrupt` with the entity and the row id.
    @inline(__always)
    func decode(
        _ stored: UnsafeRawBufferPointer, _ entity: Entity, _ id: Int64, key: UnsafeRawBufferPointer, _ snapshot: any EngineSnapshot
    )
        throws -> RecordView
    {
        if isMigrated, let old = try oldLayout(of: stored, entity, id) {
            arena.removeAll()
            return try translate(stored, old, entity, id, key: key, snapshot, into: arena)
        }
        // Bytes that never left the memory of this process are trusted.
        if !isChecked, !StoredRecord.isChunked(stored), let base = stored.baseAddress {
            return RecordView(trusting: base, count: stored.count, layout: entity.layout)
        }
        return try check(stored, entity, id, key, snapshot)
    }

    private func check(
        _ stored: UnsafeRawBufferPointer, _ entity: Entity, _ id: Int64, _ key: UnsafeRawBufferPointer, _ snapshot: any EngineSnapshot
    ) throws -> RecordView {
        // A missing checksum is treated as damage.
        guard !isChecked || RecordChecksum.verify(stored, head: entity.layout.minimumSize, key: key) else {
            throw corrupt(entity, id, "its checksum does not fit")
        }
        let body = StoredRecord.body(stored, store.traits)
        do {
            guard StoredRecord.isChunked(body) else { return try RecordView(validating: body, layout: entity.layout) }
            return try assemble(body, entity, id, snapshot)
        } catch var error as StoreError {
            if error.objectID == nil, error.code == .corrupt {
                error.objectID = id
                error.message += " It is object \(id) of \(store.place)."
            }
            throw error
        }
    }

    func corrupt(_ entity: Entity, _ id: Int64, _ what: String) -> StoreError {
        StoreError(
            .corrupt, "\(entity.name) \(id) in \(store.place) is damaged: \(what).", entity: entity.name, objectID: id, url: store.place)
    }

    private func assemble(_ stored: UnsafeRawBufferPointer, _ entity: Entity, _ id: Int64, _ snapshot: any EngineSnapshot) throws
        -> RecordView
    {
        guard let (long, recordCount) = StoredRecord.chunked(stored, entity.fields.map(\.type)) else {
            throw corrupt(entity, id, "its list of chunks cannot be")
        }
        // Copied, because the next lookup may invalidate the stored bytes.
        let copy = [UInt8](UnsafeRawBufferPointer(rebasing: stored[0..<recordCount]))
        arena.removeAll()
        return try copy.withUnsafeBytes { bytes in
            let record = try RecordView(validating: bytes, layout: entity.layout)
            var builder = RecordBuilder(arena)
            builder.begin(entity.layout)
            for field in entity.fields {
                guard let chunked = long.first(where: { $0.field == field.ordinal }) else {
                    builder.copy(field, from: record)
                    continue
                }
                let whole = try join(chunked, field.name, entity, id, snapshot)
                whole.withUnsafeBytes { builder.setBytes(field.ordinal, $0) }
            }
            return try builder.finishedView()
        }
    }

    private func join(_ chunked: StoredRecord.Chunked, _ name: String, _ entity: Entity, _ id: Int64, _ snapshot: any EngineSnapshot) throws
        -> [UInt8]
    {
        var whole: [UInt8] = []
        whole.reserveCapacity(chunked.length)
        var number = 0
        while whole.count < chunked.length {
            let key = keys.chunk(store.number(of: entity), id, field: chunked.field, number)
            guard let found = try snapshot.get(key), let piece = Chunk.open(found, key, store.traits), !piece.isEmpty,
                whole.count + piece.count <= chunked.length
            else {
                throw corrupt(entity, id, "chunk \(number) of \(name) is missing or damaged")
            }
            whole.append(contentsOf: piece)
            number += 1
        }
        return whole
    }

    // MARK: Old layouts

    /// Returns the old layout of a stored record; `nil` for the current layout.
    func oldLayout(of stored: UnsafeRawBufferPointer, _ entity: Entity, _ id: Int64) throws -> OldLayout? {
        let number = StoredRecord.layoutNumber(stored)
        if number == store.layoutNumber(of: entity) { return nil }
        if let lastOld, lastOld.entity == entity.index, lastOld.number == number { return lastOld.layout }
        guard let old = store.format(of: entity).old[number] else {
            throw corrupt(entity, id, "the store does not know its layout, \(number)")
        }
        lastOld = (entity.index, number, old)
        return old
    }

    /// Translates a record of an old layout into the current one, at the end of an arena.
    /// - Returns: the record, which is valid until the arena grows.
    func translate(
        _ stored: UnsafeRawBufferPointer, _ old: OldLayout, _ entity: Entity, _ id: Int64, key: UnsafeRawBufferPointer,
        _ snapshot: any EngineSnapshot, into arena: RecordArena
    ) throws -> RecordView {
        guard !isChecked || RecordChecksum.verify(stored, head: old.layout.minimumSize, key: key) else {
            throw corrupt(entity, id, "its checksum does not fit")
        }
        let body = StoredRecord.body(stored, store.traits)
        guard StoredRecord.isChunked(body) else {
            let record = try validated(body, old, entity, id)
            return try old.translate(record, entity, into: arena)
        }
        guard let (long, recordCount) = StoredRecord.chunked(body, old.types) else {
            throw corrupt(entity, id, "its list of chunks cannot be")
        }
        // Copied, because the next lookup may invalidate the stored bytes.
        let copy = [UInt8](UnsafeRawBufferPointer(rebasing: body[0..<recordCount]))
        return try copy.withUnsafeBytes { bytes in
            let record = try validated(bytes, old, entity, id)
            return try old.translate(record, entity, into: arena) { field in
                guard let chunked = long.first(where: { $0.field == field }) else { return nil }
                return try self.join(chunked, "field \(field) of layout \(StoredRecord.layoutNumber(bytes))", entity, id, snapshot)
            }
        }
    }

    private func validated(_ body: UnsafeRawBufferPointer, _ old: OldLayout, _ entity: Entity, _ id: Int64) throws -> RecordView {
        do { return try RecordView(validating: body, layout: old.layout) } catch let error as StoreError where error.code == .corrupt {
            throw corrupt(entity, id, error.message)
        }
    }
}
