import PolyStoreBackend

/// Walks over the entries of an index in one or several ranges, and gives their ids.
class IndexSource: IDSource {
    let index: KeyIndex
    fileprivate let reader: SnapshotReader
    fileprivate let cursor: EngineCursor
    fileprivate let ranges: [KeyRange]
    @exclusivity(unchecked) fileprivate var isOpen = true

    fileprivate init(_ reader: SnapshotReader, _ index: KeyIndex, _ ranges: [KeyRange]) throws {
        self.reader = reader
        self.index = index
        self.ranges = ranges
        cursor = try reader.snapshot.cursor()
    }

    /// - Parameter ranges: ascending, none touching another.
    static func make(_ reader: SnapshotReader, _ index: KeyIndex, _ ranges: [KeyRange], isReversed: Bool) throws -> IndexSource {
        isReversed ? try BackwardIndexSource(reader, index, ranges) : try ForwardIndexSource(reader, index, ranges)
    }

    /// The entry that the last id came from; valid until the next step.
    final var key: UnsafeRawBufferPointer { cursor.key }
    /// Whether `key` is that of the last id: not so within a run that was walked over backwards.
    var hasKey: Bool { true }

    fileprivate final func id() throws -> Int64 {
        guard let id = index.id(cursor.key, cursor.value) else { throw reader.corrupt("an entry of the index \(index.index.name)") }
        return id
    }

    override func close() {
        guard isOpen else { return }
        isOpen = false
        cursor.close()
    }
}

private final class ForwardIndexSource: IndexSource {
    @exclusivity(unchecked) private var position = 0
    @exclusivity(unchecked) private var isInRange = false

    override func next() throws -> Int64? {
        guard isOpen else { return nil }
        while position < ranges.count {
            let isThere: Bool
            if isInRange {
                isThere = try cursor.next()
            } else {
                isThere = try ranges[position].start.withUnsafeBytes { try cursor.seek($0) }
                isInRange = true
            }
            guard isThere else { break }
            if ranges[position].end.withUnsafeBytes({ Order.of(cursor.key, $0) < 0 }) {
                examined += 1
                return try id()
            }
            position += 1
            isInRange = false
        }
        close()
        return nil
    }
}

/// From the last entry to the first, but ids ascending where all components are equal: as an order that descends asks for, with the id as the last
/// word.
private final class BackwardIndexSource: IndexSource {
    @exclusivity(unchecked) private var position: Int
    @exclusivity(unchecked) private var isInRange = false
    /// Ids of a run of equal components that are still to be given.
    @exclusivity(unchecked) private var run: [Int64] = []
    @exclusivity(unchecked) private var runPosition = 0
    /// Where to go on, once the run is used up: before this key.
    @exclusivity(unchecked) private var before: [UInt8]?

    override init(_ reader: SnapshotReader, _ index: KeyIndex, _ ranges: [KeyRange]) throws {
        position = ranges.count - 1
        try super.init(reader, index, ranges)
    }

    override var hasKey: Bool { false }

    override func next() throws -> Int64? {
        guard isOpen else { return nil }
        if runPosition < run.count {
            runPosition += 1
            return run[runPosition - 1]
        }
        while position >= 0 {
            let range = ranges[position]
            let isThere: Bool
            if let start = before {
                isThere = try start.withUnsafeBytes { start in
                    guard try cursor.seek(before: start) else { return false }
                    // In an index whose keys are out of order the walk could go round in a circle.
                    guard Order.of(cursor.key, start) < 0 else { throw disordered }
                    return true
                }
            } else if isInRange {
                // A run of one: the cursor stands before it already.
                isThere = !isAtStart
            } else {
                isThere = try range.end.withUnsafeBytes { try cursor.seek(before: $0) }
            }
            before = nil
            isInRange = true
            if isThere, range.start.withUnsafeBytes({ Order.of(cursor.key, $0) >= 0 }) { return try take() }
            position -= 1
            isInRange = false
            isAtStart = false
        }
        close()
        return nil
    }

    @exclusivity(unchecked) private var isAtStart = false

    /// Takes the whole run that the cursor stands at the end of.
    private func take() throws -> Int64 {
        let last = try id()
        examined += 1
        let components = [UInt8](UnsafeRawBufferPointer(rebasing: cursor.key[0..<(try index.componentsEnd(cursor.key))]))
        isAtStart = try !cursor.previous()
        let isAlone = isAtStart || !components.withUnsafeBytes { cursor.key.starts(with: $0) }
        if isAlone { return last }
        run.removeAll(keepingCapacity: true)
        try components.withUnsafeBytes { components in
            var more = try cursor.seek(components)
            while more, cursor.key.starts(with: components) {
                run.append(try id())
                more = try cursor.next()
            }
        }
        // The two entries that the cursor has stood on at least.
        guard let first = run.first, run.count > 1 else { throw disordered }
        examined += run.count - 1
        before = components
        isAtStart = false
        runPosition = 1
        return first
    }

    private var disordered: StoreError { reader.corrupt("the index \(index.index.name) is out of order and") }
}

/// Rows made of index entries alone: the indexed fields are there, all others null.
final class CoveringCursor: RecordCursor {
    private let source: IndexSource
    private let reader: SnapshotReader
    private let entity: Entity
    private let arena = RecordArena(capacity: 256)
    @exclusivity(unchecked) private var builder: RecordBuilder
    /// The positions of the index's components in ascending order of their fields' ordinals.
    private let order: [Int]
    @exclusivity(unchecked) private var components: [Value] = []
    /// Only the id is wanted.
    private let onlyIDs: Bool

    init(_ reader: SnapshotReader, _ entity: Entity, _ source: IndexSource, onlyIDs: Bool) {
        self.reader = reader
        self.entity = entity
        self.source = source
        self.onlyIDs = onlyIDs
        builder = RecordBuilder(arena)
        order = source.index.fields.indices.sorted { source.index.fields[$0].ordinal < source.index.fields[$1].ordinal }
        super.init(layout: entity.layout)
        if onlyIDs {
            builder.begin(entity.layout)
            // An empty record cannot be out of order.
            if let empty = try? builder.finishedView() { stand(on: 0, empty) }
        }
    }

    deinit { close() }

    override func next() throws -> Bool {
        try reader.check()
        guard let id = try source.next() else { return false }
        stand(on: id, onlyIDs ? record : try decode())
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
            // A value of another type than the field's.
            throw reader.corrupt("an entry of the index \(source.index.index.name)")
        }
    }

    override func close() { source.close() }
    override var rowsExamined: Int { source.examined }
}
