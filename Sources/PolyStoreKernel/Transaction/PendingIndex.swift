import PolyStoreBackend

/// A hash index of pending rows by one value. It returns candidates; the predicate must be evaluated on them.
struct PendingIndex {
    private struct Entry {
        let hash: Int
        let row: Int32
        /// The next entry in the bucket; -1 at the end.
        let next: Int32
    }

    private struct Bucket {
        var first: Int32
        /// The number of entries, including outdated ones.
        var count: Int
    }

    private var buckets: [Int: Bucket] = [:]
    private var entries: [Entry] = []
    /// The current entry of each row; -1 if it has none. All other entries of the row are outdated.
    private var current: [Int32] = []
    private var outdated = 0

    /// Sets the hash of a row's value. nil means null, which is not indexed.
    mutating func set(_ row: Int, _ hash: Int?) {
        while current.count <= row { current.append(-1) }
        let entry = current[row]
        if entry >= 0 {
            if entries[Int(entry)].hash == hash { return }
            outdated += 1
            current[row] = -1
        }
        if let hash { add(row, hash) }
        if outdated > 1024, outdated > entries.count / 2 { rebuild() }
    }

    private mutating func add(_ row: Int, _ hash: Int) {
        let bucket = buckets[hash]
        current[row] = Int32(entries.count)
        buckets[hash] = Bucket(first: Int32(entries.count), count: (bucket?.count ?? 0) + 1)
        entries.append(Entry(hash: hash, row: Int32(row), next: bucket?.first ?? -1))
    }

    private mutating func rebuild() {
        let old = entries
        entries = []
        buckets = [:]
        outdated = 0
        for row in current.indices where current[row] >= 0 { add(row, old[Int(current[row])].hash) }
    }

    /// Returns an upper bound of the number of rows with any of the given hashes.
    func count(_ hashes: Set<Int>) -> Int { hashes.reduce(0) { $0 + (buckets[$1]?.count ?? 0) } }

    /// Returns the rows with any of the given hashes, without duplicates.
    func rows(_ hashes: Set<Int>) -> [Int32] {
        var rows: [Int32] = []
        for hash in hashes {
            var position = buckets[hash]?.first ?? -1
            while position >= 0 {
                let entry = entries[Int(position)]
                if current[Int(entry.row)] == position { rows.append(entry.row) }
                position = entry.next
            }
        }
        return rows
    }

    // MARK: Hashes (identical for values that compare equal in predicates)

    static func hash(_ id: Int64) -> Int { Int(truncatingIfNeeded: id) }

    static func hash(_ value: Value) -> Int? {
        switch value {
        case .null: return nil
        case .integer(let value): return hash(value)
        case .real(let value): return hash(value)
        case .text(var value): return value.withUTF8 { hash(UnsafeRawBufferPointer($0)) }
        case .blob(let value): return value.withUnsafeBytes { hash($0) }
        }
    }

    static func hash(_ record: RecordView, _ field: Field) -> Int? {
        if record.isNull(field.index) { return nil }
        switch field.type.physical {
        case .integer: return hash(record.integer(field.index))
        case .real: return hash(record.real(field.index))
        case .text, .blob: return hash(record.bytes(field.index))
        }
    }

    private static func hash(_ value: Double) -> Int { Int(truncatingIfNeeded: Value.normalized(value).bitPattern) }

    private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        return hasher.finalize()
    }
}
