import PolyStoreBackend

/// Keys that begin alike, with what becomes of them: to be brought into order before they are written, as engines take ordered keys several times
/// faster.
struct WriteLane {
    struct Entry {
        /// The first 16 bytes of the key after the ones that all keys of the lane share. They decide nearly every comparison.
        let head: (UInt64, UInt64)
        let offset: Int
        /// −1: the key is removed.
        let valueCount: Int
        /// A record as it came, which is sealed when it is written; nil: the value lies behind the key.
        let record: UnsafeRawPointer?
        let keyCount: Int32
        /// The key must not be there yet.
        let mustBeNew: Bool

        init(
            _ key: UnsafeRawBufferPointer, sharing prefixCount: Int, at offset: Int, valueCount: Int, mustBeNew: Bool = false,
            record: UnsafeRawPointer? = nil
        ) {
            head = (WriteLane.word(key, prefixCount), WriteLane.word(key, prefixCount + 8))
            self.offset = offset
            self.valueCount = valueCount
            self.record = record
            keyCount = Int32(key.count)
            self.mustBeNew = mustBeNew
        }
    }

    private(set) var entries: [Entry] = []
    private var isSorted = true
    let arena: RecordArena
    /// Of records as they came: how long their heads are; nil where they are not sealed.
    fileprivate let sealedHead: Int?
    /// The number of bytes that all keys of the lane share. Keys that differ in an earlier byte would be sorted into a wrong order.
    private let prefixCount: Int

    /// The number of bytes that the keys of one entity, index or link table share: the space and the number.
    static let numberedPrefixCount = 5

    /// - Parameters:
    ///   - arena: may be that of other lanes too.
    ///   - prefixCount: the number of bytes that all keys of the lane share.
    init(
        _ arena: RecordArena = RecordArena(capacity: 256), sealedHead: Int? = nil, prefixCount: Int = WriteLane.numberedPrefixCount
    ) {
        self.arena = arena
        self.sealedHead = sealedHead
        self.prefixCount = prefixCount
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Makes room for so many more keys: in an arena of its own, which keeps many keys of one lane together, as once they are sorted they are read
    /// from all over it.
    mutating func reserve(_ count: Int, keySize: Int) {
        if entries.isEmpty { self = WriteLane(RecordArena(capacity: count * keySize), sealedHead: sealedHead, prefixCount: prefixCount) }
        entries.reserveCapacity(entries.count + count)
    }

    /// Adds a key whose value, if any, lies right behind it in the arena.
    /// - Parameter record: the value, where it lies elsewhere; it must stay there.
    mutating func add(at offset: Int, keyCount: Int, valueCount: Int, mustBeNew: Bool = false, record: UnsafeRawPointer? = nil) {
        let entry = Entry(
            arena.bytes(offset, keyCount), sharing: prefixCount, at: offset, valueCount: valueCount, mustBeNew: mustBeNew, record: record)
        if isSorted, let last = entries.last, !precedes(last, entry) { isSorted = false }
        entries.append(entry)
    }

    /// Copies a key in, with or without a value.
    mutating func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?, mustBeNew: Bool = false) {
        let offset = arena.append(key)
        if let value { _ = arena.append(value) }
        add(at: offset, keyCount: key.count, valueCount: value?.count ?? -1, mustBeNew: mustBeNew)
    }

    fileprivate static func word(_ key: UnsafeRawBufferPointer, _ at: Int) -> UInt64 {
        if at + 8 <= key.count { return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: at, as: UInt64.self)) }
        var word: UInt64 = 0
        for position in at..<at + 8 { word = word << 8 | (position < key.count ? UInt64(key[position]) : 0) }
        return word
    }

    func key(_ entry: Entry) -> UnsafeRawBufferPointer { arena.bytes(entry.offset, Int(entry.keyCount)) }
    func value(_ entry: Entry) -> UnsafeRawBufferPointer? {
        if entry.valueCount < 0 { return nil }
        if let record = entry.record { return UnsafeRawBufferPointer(start: record, count: entry.valueCount) }
        return arena.bytes(entry.offset + Int(entry.keyCount), entry.valueCount)
    }

    /// By key; of one key the removal first.
    private func precedes(_ left: Entry, _ right: Entry) -> Bool {
        if left.head.0 != right.head.0 { return left.head.0 < right.head.0 }
        if left.head.1 != right.head.1 { return left.head.1 < right.head.1 }
        let order = Order.of(key(left), key(right))
        return order != 0 ? order < 0 : left.valueCount < 0 && right.valueCount >= 0
    }

    mutating func sort() {
        guard !isSorted else { return }
        isSorted = true
        let lane = self
        entries.sort { lane.precedes($0, $1) }
    }

    func sameKey(_ left: Entry, _ right: Entry) -> Bool { left.head == right.head && Order.of(key(left), key(right)) == 0 }

    /// Adds everything of a lane whose keys come behind those that are here, in order, its records sealed.
    mutating func append(_ other: WriteLane) {
        if other.isEmpty { return }
        let run = other.run()
        for position in 0..<run.count {
            let (key, value) = (run.key(position), run.value(position))
            let offset = arena.append(key)
            if let value { _ = arena.append(value) }
            // Sorted already, and not by what this lane's keys share, as they are of several.
            entries.append(Entry(key, sharing: prefixCount, at: offset, valueCount: value?.count ?? -1))
        }
    }

    /// Writes everything, in order. A removal of a key that is set again is left out.
    func write(to writer: any EngineWriter) throws {
        if entries.isEmpty { return }
        try writer.write(run())
    }

    private func run() -> WriteRun {
        var lane = self
        lane.sort()
        return WriteRun(lane)
    }
}

/// Keys in ascending order, each once, with what becomes of them.
public struct WriteRun {
    private let lane: WriteLane
    private let sealed = RecordArena(capacity: 1024)
    private let entries: [WriteLane.Entry]

    init(_ lane: WriteLane) {
        self.lane = lane
        let all = lane.entries
        // A removal of a key that is set again is left out.
        let isSuperseded = { (position: Int) in
            position + 1 < all.count && all[position].valueCount < 0 && lane.sameKey(all[position], all[position + 1])
        }
        entries = all.indices.contains(where: isSuperseded) ? all.indices.filter { !isSuperseded($0) }.map { all[$0] } : all
    }

    public var count: Int { entries.count }

    @inline(__always)
    private func entry(_ position: Int) -> WriteLane.Entry { entries[position] }

    /// Bytes of all keys and values.
    var byteCount: Int { (0..<count).reduce(0) { $0 + Int(entry($1).keyCount) + max(0, entry($1).valueCount) } }

    /// The key with a number.
    public func key(_ position: Int) -> UnsafeRawBufferPointer { lane.key(entry(position)) }

    /// Bytes of the key with a number and of its new value.
    func size(_ position: Int) -> Int {
        let entry = entry(position)
        let tail = entry.record != nil && lane.sealedHead != nil ? RecordChecksum.tailSize : 0
        return Int(entry.keyCount) + max(0, entry.valueCount) + tail
    }

    /// Whether the key with a number is removed.
    public func isRemoved(_ position: Int) -> Bool { entry(position).valueCount < 0 }

    /// The new value of the key with a number, valid until the next call; nil: it is removed.
    public func value(_ position: Int) -> UnsafeRawBufferPointer? {
        let entry = entry(position)
        guard let value = lane.value(entry) else { return nil }
        guard entry.record != nil, let head = lane.sealedHead else { return value }
        sealed.removeAll()
        _ = sealed.append(value)
        return sealed.bytes(0, StoredRecord.seal(0, in: sealed, head: head, key: lane.key(entry)))
    }
}
