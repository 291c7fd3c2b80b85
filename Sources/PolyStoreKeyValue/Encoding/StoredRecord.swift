import PolyStoreBackend

/// The stored form of a record: the record sealed with two checksums (``RecordChecksum``). A field of variable length that exceeds
/// ``EngineTraits/maximumPieceSize`` is empty in the record and stored in chunks. A list after the record contains the chunked fields and their lengths:
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
        if count <= traits.maximumPieceSize {
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
            guard field.type.fixedWidth == 0, !record.isNull(field.index), record.bytes(field.index).count > traits.maximumPieceSize else {
                builder.copy(field, from: record)
                continue
            }
            let bytes = record.bytes(field.index)
            builder.setBytes(field.index, UnsafeRawBufferPointer(start: nil, count: 0))
            long.append(Chunked(field: field.index, length: bytes.count))
            var at = 0
            while at < bytes.count {
                let end = min(at + traits.maximumPieceSize, bytes.count)
                chunk(field.index, at / traits.maximumPieceSize, UnsafeRawBufferPointer(rebasing: bytes[at..<end]))
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
