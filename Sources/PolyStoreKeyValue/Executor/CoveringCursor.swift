import PolyStoreBackend

/// Rows from index entries alone: the indexed fields have values, and all others are null.
final class CoveringCursor: RecordCursor {
    private let source: IndexSource
    private let reader: SnapshotReader
    private let entity: Entity
    private let arena = RecordArena(capacity: 256)
    @exclusivity(unchecked) private var builder: RecordBuilder
    /// The positions of the index's components that are fields of the record, in ascending order of their field indexes.
    private let order: [Int]
    @exclusivity(unchecked) private var components: [Value] = []
    /// A Boolean value that indicates whether only row ids are requested.
    private let onlyIDs: Bool

    init(_ reader: SnapshotReader, _ entity: Entity, _ source: IndexSource, onlyIDs: Bool) {
        self.reader = reader
        self.entity = entity
        self.source = source
        self.onlyIDs = onlyIDs
        builder = RecordBuilder(arena)
        order = source.index.fields.indices.filter { source.index.index.parts[$0].json == nil }.sorted {
            source.index.fields[$0].index < source.index.fields[$1].index
        }
        super.init(layout: entity.layout)
        if onlyIDs {
            builder.begin(entity.layout)
            // A record without values is always valid.
            if let empty = try? builder.finishedView() { setCurrent(0, empty) }
        }
    }

    deinit { close() }

    override func next() throws -> Bool {
        try reader.check()
        guard let id = try source.next() else { return false }
        setCurrent(id, onlyIDs ? record : try decode())
        return true
    }

    private func decode() throws -> RecordView {
        var keyReader = KeyReader(source.key, from: 5)
        components.removeAll(keepingCapacity: true)
        for _ in source.index.fields {
            guard case .value(let value) = try keyReader.readComponent() else {
                throw reader.corrupt("an entry of the index \(source.index.index.name)")
            }
            components.append(value)
        }
        arena.removeAll()
        builder.begin(entity.layout)
        do {
            for position in order { try builder.set(source.index.fields[position], components[position]) }
            return try builder.finishedView()
        } catch {
            // The value has another type than the field.
            throw reader.corrupt("an entry of the index \(source.index.index.name)")
        }
    }

    override func close() { source.close() }
    override var rowsExamined: Int { source.examined }
}
