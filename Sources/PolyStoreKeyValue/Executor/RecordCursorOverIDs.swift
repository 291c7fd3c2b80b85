import PolyStoreBackend

/// Looks up the record of each row id.
final class RecordCursorOverIDs: RecordCursor {
    private let reader: SnapshotReader
    private let entity: Entity
    private let source: IDSource
    /// A Boolean value that indicates whether a missing record is damage. The caller may name row ids that do not exist.
    private let mustExist: Bool
    @exclusivity(unchecked) private var isOpen = true
    @exclusivity(unchecked) private var lookupCount = 0
    /// The number of row ids to skip without reading their records.
    @exclusivity(unchecked) private var skip: Int
    /// The number of rows left to return.
    @exclusivity(unchecked) private var left: Int
    private let keys = KeyWriter()
    private let number: UInt32
    private let decoder: StoredRecordDecoder

    /// - Parameter slice: The rows to return, if all row ids must exist; `nil` for all.
    init(_ reader: SnapshotReader, _ entity: Entity, _ source: IDSource, mustExist: Bool, slice: RowSlice? = nil) {
        self.reader = reader
        self.entity = entity
        self.source = source
        self.mustExist = mustExist
        skip = slice?.offset ?? 0
        left = slice?.limit ?? .max
        number = reader.layout.number(of: entity)
        decoder = StoredRecordDecoder(reader.layout)
        super.init(layout: entity.layout)
    }

    deinit { close() }

    override func next() throws -> Bool {
        guard isOpen else { return false }
        try reader.check()
        while left > 0, let id = try source.next() {
            try reader.examine()
            if skip > 0 {
                skip &-= 1
                continue
            }
            lookupCount &+= 1
            let key = keys.record(number, id)
            guard let stored = try reader.snapshot.get(key) else {
                if mustExist {
                    throw decoder.corrupt(
                        entity, id, "an index refers to it, and it does not exist; verify the store, and rebuild its indexes")
                }
                continue
            }
            setCurrent(id, try decoder.decode(found: stored, entity, id, key: key, reader.snapshot))
            left &-= 1
            return true
        }
        close()
        return false
    }

    override func close() {
        guard isOpen else { return }
        isOpen = false
        source.close()
    }

    override var rowsExamined: Int { max(source.examined, lookupCount) }
}
