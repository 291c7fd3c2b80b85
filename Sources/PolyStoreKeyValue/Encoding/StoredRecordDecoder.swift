import PolyStoreBackend

/// Decodes stored records: verifies checksums and assembles chunked fields.
final class StoredRecordDecoder {
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
            if error.rowID == nil, error.code == .corrupt {
                error.rowID = id
                error.message += " It is object \(id) of \(store.location)."
            }
            throw error
        }
    }

    func corrupt(_ entity: Entity, _ id: Int64, _ what: String) -> StoreError {
        StoreError(
            .corrupt, "\(entity.name) \(id) in \(store.location) is damaged: \(what).", entity: entity.name, rowID: id,
            location: store.location)
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
                guard let chunked = long.first(where: { $0.field == field.index }) else {
                    builder.copy(field, from: record)
                    continue
                }
                let whole = try join(chunked, field.name, entity, id, snapshot)
                whole.withUnsafeBytes { builder.setBytes(field.index, $0) }
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
