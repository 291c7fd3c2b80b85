import PolyStoreBackend

/// Scans the entries of an index in one or more ranges, and returns their row ids.
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

    /// - Parameter ranges: The ascending, disjoint ranges.
    static func make(_ reader: SnapshotReader, _ index: KeyIndex, _ ranges: [KeyRange], isReversed: Bool) throws -> IndexSource {
        isReversed ? try BackwardIndexSource(reader, index, ranges) : try ForwardIndexSource(reader, index, ranges)
    }

    /// The entry of the last row id, which is valid until the next step.
    final var key: UnsafeRawBufferPointer { cursor.key }
    /// A Boolean value that indicates whether `key` belongs to the last row id. It does not within a run of equal entries in a backward scan.
    var hasKey: Bool { true }

    /// In a backward scan, the components of the entry of the last row id.
    @exclusivity(unchecked) final fileprivate(set) var components: [UInt8] = []

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
            let hasEntry: Bool
            if isInRange {
                hasEntry = try cursor.next()
            } else {
                hasEntry = try ranges[position].start.withUnsafeBytes { try cursor.seek($0) }
                isInRange = true
            }
            guard hasEntry else {
                // Only a range that does not ascend can follow the last key: that of null, if nulls are last.
                guard position + 1 < ranges.count, ranges[position + 1].start.lexicographicallyPrecedes(ranges[position].start) else {
                    break
                }
                position += 1
                isInRange = false
                continue
            }
            if ranges[position].end.withUnsafeBytes({ Order.of(cursor.key, $0) < 0 }) {
                examined += 1
                try reader.examine()
                return try id()
            }
            position += 1
            isInRange = false
        }
        close()
        return nil
    }
}

/// A backward index scan in which row ids ascend within equal components, as required by a descending order with the row id as the last sort key.
private final class BackwardIndexSource: IndexSource {
    @exclusivity(unchecked) private var position: Int
    @exclusivity(unchecked) private var isInRange = false
    /// The components of the current run of equal entries, which is returned from its first entry on.
    @exclusivity(unchecked) private var run: [UInt8]?
    @exclusivity(unchecked) private var runCount = 0
    /// The key before which the scan continues after the run.
    @exclusivity(unchecked) private var before: [UInt8]?

    override init(_ reader: SnapshotReader, _ index: KeyIndex, _ ranges: [KeyRange]) throws {
        position = ranges.count - 1
        try super.init(reader, index, ranges)
    }

    override var hasKey: Bool { false }

    override func next() throws -> Int64? {
        guard isOpen else { return nil }
        if let components = run {
            if try cursor.next(), components.withUnsafeBytes({ cursor.key.starts(with: $0) }) {
                examined += 1
                try reader.examine()
                runCount += 1
                return try id()
            }
            // The run contains at least the two entries that the cursor has visited.
            guard runCount > 1 else { throw disordered }
            run = nil
            before = components
            isAtStart = false
        }
        while position >= 0 {
            let range = ranges[position]
            let hasEntry: Bool
            if let start = before {
                hasEntry = try start.withUnsafeBytes { start in
                    guard try cursor.seek(before: start) else { return false }
                    // In an index with unordered keys the scan could loop forever.
                    guard Order.of(cursor.key, start) < 0 else { throw disordered }
                    return true
                }
            } else if isInRange {
                // The last run had one entry, and `take()` has already moved the cursor before it.
                hasEntry = !isAtStart
            } else {
                hasEntry = try range.end.withUnsafeBytes { try cursor.seek(before: $0) }
            }
            before = nil
            isInRange = true
            if hasEntry, range.start.withUnsafeBytes({ Order.of(cursor.key, $0) >= 0 }) { return try take() }
            position -= 1
            isInRange = false
            isAtStart = false
        }
        close()
        return nil
    }

    @exclusivity(unchecked) private var isAtStart = false

    /// Returns the current entry, or the first one of the run whose last entry is current. The others of the run are read on demand.
    private func take() throws -> Int64 {
        let last = try id()
        examined += 1
        try reader.examine()
        components = [UInt8](UnsafeRawBufferPointer(rebasing: cursor.key[0..<(try index.componentsEnd(cursor.key))]))
        isAtStart = try !cursor.previous()
        let isAlone = isAtStart || !components.withUnsafeBytes { cursor.key.starts(with: $0) }
        if isAlone { return last }
        guard try components.withUnsafeBytes({ try cursor.seek($0) && cursor.key.starts(with: $0) }) else { throw disordered }
        run = components
        runCount = 1
        return try id()
    }

    private var disordered: StoreError { reader.corrupt("the index \(index.index.name) is out of order and") }
}
