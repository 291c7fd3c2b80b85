import PolyStoreBackend

/// How a record lies in the store: the record itself, sealed with two checksums (``RecordChecksum``). Fields of variable length over the engine's
/// largest piece are empty in it and lie in chunks; a list behind it then says which, and how long they are:
///
///     record | (u32 field | u64 length) per chunked field | u32 number of them | u32 second checksum
enum StoredRecord {
    /// In the record's flags: there is such a list.
    static let chunkedFlag: UInt8 = 2
    private static let entrySize = 12

    struct Chunked {
        let field: Int
        let length: Int
    }

    /// The record and the list, without the checksum behind them.
    static func body(_ stored: UnsafeRawBufferPointer, _ traits: EngineTraits) -> UnsafeRawBufferPointer {
        guard traits.checksumsRecords else { return stored }
        return UnsafeRawBufferPointer(start: stored.baseAddress, count: max(0, stored.count - RecordChecksum.tailSize))
    }

    /// The fields in chunks, and the length of the record without the list. Total: nil for a list that cannot be.
    static func chunked(_ stored: UnsafeRawBufferPointer, _ entity: Entity) -> (fields: [Chunked], recordCount: Int)? {
        guard stored.count >= 4 else { return nil }
        let number = Int(UInt32(littleEndian: stored.loadUnaligned(fromByteOffset: stored.count - 4, as: UInt32.self)))
        let listSize = number * entrySize + 4
        guard number > 0, number <= entity.fields.count, listSize < stored.count else { return nil }
        var fields: [Chunked] = []
        var at = stored.count - listSize
        for _ in 0..<number {
            let field = Int(UInt32(littleEndian: stored.loadUnaligned(fromByteOffset: at, as: UInt32.self)))
            let length = UInt64(littleEndian: stored.loadUnaligned(fromByteOffset: at + 4, as: UInt64.self))
            guard field < entity.fields.count, entity.fields[field].type.fixedWidth == 0, length <= UInt64(UInt32.max) else { return nil }
            fields.append(Chunked(field: field, length: Int(length)))
            at += entrySize
        }
        return (fields, stored.count - listSize)
    }

    static func isChunked(_ stored: UnsafeRawBufferPointer) -> Bool { stored.count > 1 && stored[1] & chunkedFlag != 0 }

    /// Writes the stored form of a record behind what an arena holds.
    /// - Parameter chunk: takes each piece of each long field.
    /// - Returns: how many bytes were written.
    static func append(
        _ record: RecordView, _ entity: Entity, key: UnsafeRawBufferPointer, traits: EngineTraits, to arena: RecordArena,
        chunk: (_ field: Int, _ number: Int, _ bytes: UnsafeRawBufferPointer) -> Void
    ) throws -> Int {
        let start = arena.count
        var count = record.count
        if count <= traits.largestPiece {
            _ = arena.append(record.bytes)
        } else {
            count = try appendLong(record, entity, traits, arena, chunk)
        }
        if traits.checksumsRecords { count = seal(start, in: arena, head: entity.layout.minimumSize, key: key) }
        return count
    }

    /// Seals the record that an arena ends with.
    /// - Parameter start: where it begins there.
    /// - Returns: how many bytes it then has.
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

/// A piece of a long value: its bytes, and behind them their CRC-32C together with the key's where the engine wants checksums.
enum Chunk {
    static func seal(_ bytes: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ traits: EngineTraits, into arena: RecordArena) -> Int
    {
        let start = arena.append(bytes)
        guard traits.checksumsRecords else { return bytes.count }
        let sum = RecordChecksum.crc32c(key, arena.bytes(start, bytes.count))
        withUnsafeBytes(of: sum.littleEndian) { _ = arena.append($0) }
        return bytes.count + 4
    }

    /// - Returns: nil for a damaged one.
    static func open(_ stored: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ traits: EngineTraits) -> UnsafeRawBufferPointer? {
        guard traits.checksumsRecords else { return stored }
        guard stored.count >= 4 else { return nil }
        let bytes = UnsafeRawBufferPointer(rebasing: stored[0..<(stored.count - 4)])
        let sum = UInt32(littleEndian: stored.loadUnaligned(fromByteOffset: bytes.count, as: UInt32.self))
        return sum == RecordChecksum.crc32c(key, bytes) ? bytes : nil
    }
}

/// Reads stored records: checks them, and puts those in chunks together.
final class RecordDecoder {
    private let store: StoreLayout
    private let arena = RecordArena(capacity: 256)
    private let copy = RecordArena(capacity: 256)
    private let keys = KeyWriter()

    private let isChecked: Bool
    private let staysPut: Bool

    init(_ store: StoreLayout) {
        self.store = store
        isChecked = store.traits.checksumsRecords
        staysPut = store.traits.valuesStay
    }

    /// A record that a look-up gave.
    /// - Returns: the record, valid until the next call, and as long as the engine keeps values where they are.
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

    /// - Returns: the record, valid as long as the stored bytes and until the next call.
    /// - Throws: `corrupt` with entity and id.
    @inline(__always)
    func decode(
        _ stored: UnsafeRawBufferPointer, _ entity: Entity, _ id: Int64, key: UnsafeRawBufferPointer, _ snapshot: any EngineSnapshot
    )
        throws -> RecordView
    {
        // What is only in this process's memory was written by this process.
        if !isChecked, !StoredRecord.isChunked(stored), let base = stored.baseAddress {
            return RecordView(trusting: base, count: stored.count, layout: entity.layout)
        }
        return try check(stored, entity, id, key, snapshot)
    }

    private func check(
        _ stored: UnsafeRawBufferPointer, _ entity: Entity, _ id: Int64, _ key: UnsafeRawBufferPointer, _ snapshot: any EngineSnapshot
    ) throws -> RecordView {
        // A checksum that is missing is one that was damaged away.
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
        guard let (long, recordCount) = StoredRecord.chunked(stored, entity) else {
            throw corrupt(entity, id, "its list of chunks cannot be")
        }
        // Copied, as the stored bytes may go with the next look-up.
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
                let whole = try join(chunked, entity, id, snapshot)
                whole.withUnsafeBytes { builder.setBytes(field.ordinal, $0) }
            }
            return try builder.finishedView()
        }
    }

    private func join(_ chunked: StoredRecord.Chunked, _ entity: Entity, _ id: Int64, _ snapshot: any EngineSnapshot) throws -> [UInt8] {
        var whole: [UInt8] = []
        whole.reserveCapacity(chunked.length)
        var number = 0
        while whole.count < chunked.length {
            let key = keys.chunk(store.number(of: entity), id, field: chunked.field, number)
            guard let found = try snapshot.get(key), let piece = Chunk.open(found, key, store.traits), !piece.isEmpty,
                whole.count + piece.count <= chunked.length
            else {
                throw corrupt(entity, id, "chunk \(number) of \(entity.fields[chunked.field].name) is missing or damaged")
            }
            whole.append(contentsOf: piece)
            number += 1
        }
        return whole
    }
}
