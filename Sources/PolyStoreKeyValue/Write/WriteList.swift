import PolyStoreBackend

/// A list of keys with a common prefix and their new values. It is sorted before it is written, because engines write ordered keys several times faster.
struct WriteList {
    struct Entry {
        /// The 16 bytes of the key after the common prefix. They decide nearly every comparison.
        let head: (UInt64, UInt64)
        let offset: Int
        /// The length of the value; −1 for a removal.
        let valueCount: Int
        /// An unsealed record, which is sealed when it is written; `nil` if the value follows the key.
        let record: UnsafeRawPointer?
        let keyCount: Int32
        /// A Boolean value that indicates whether the key must not exist yet.
        let mustBeNew: Bool

        init(
            _ key: UnsafeRawBufferPointer, sharing prefixCount: Int, at offset: Int, valueCount: Int, mustBeNew: Bool = false,
            record: UnsafeRawPointer? = nil
        ) {
            head = (WriteList.word(key, prefixCount), WriteList.word(key, prefixCount + 8))
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
    /// The head size of unsealed records; `nil` if they are not sealed.
    let sealedHead: Int?
    /// The layout number for the headers of unsealed records.
    let layoutNumber: UInt16
    /// The length of the common prefix in bytes. Keys that differ in an earlier byte would be sorted incorrectly.
    private let prefixCount: Int

    /// The length in bytes of the common prefix of the keys of one entity, index or link table: the space and the number.
    static let numberedPrefixCount = 5

    /// - Parameters:
    ///   - arena: The memory of keys and values, which several lists may share.
    ///   - prefixCount: The length of the common prefix in bytes.
    ///   - capacity: The number of keys to reserve memory for.
    init(
        _ arena: RecordArena = RecordArena(capacity: 256), sealedHead: Int? = nil, layoutNumber: UInt16 = 0,
        prefixCount: Int = WriteList.numberedPrefixCount, capacity: Int = 0
    ) {
        self.arena = arena
        self.layoutNumber = layoutNumber
        self.sealedHead = sealedHead
        self.prefixCount = prefixCount
        if capacity > 0 { entries.reserveCapacity(capacity) }
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Reserves memory for more keys, in a separate arena that keeps the keys of a large list together: once sorted, they are read in random order.
    mutating func reserve(_ count: Int, keySize: Int) {
        if entries.isEmpty {
            self = WriteList(
                RecordArena(capacity: count * keySize), sealedHead: sealedHead, layoutNumber: layoutNumber, prefixCount: prefixCount)
        }
        entries.reserveCapacity(entries.count + count)
    }

    /// Adds a key whose value, if any, follows it in the arena.
    /// - Parameter record: The value if it is stored elsewhere; it must stay there.
    mutating func add(at offset: Int, keyCount: Int, valueCount: Int, mustBeNew: Bool = false, record: UnsafeRawPointer? = nil) {
        let entry = Entry(
            arena.bytes(offset, keyCount), sharing: prefixCount, at: offset, valueCount: valueCount, mustBeNew: mustBeNew, record: record)
        if isSorted, let last = entries.last, !precedes(last, entry) { isSorted = false }
        entries.append(entry)
    }

    /// Copies a key with or without a value.
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

    /// Orders entries by key; for equal keys, the removal first.
    private func precedes(_ left: Entry, _ right: Entry) -> Bool {
        if left.head.0 != right.head.0 { return left.head.0 < right.head.0 }
        if left.head.1 != right.head.1 { return left.head.1 < right.head.1 }
        let order = Order.of(key(left), key(right))
        return order != 0 ? order < 0 : left.valueCount < 0 && right.valueCount >= 0
    }

    mutating func sort() {
        guard !isSorted else { return }
        isSorted = true
        let list = self
        entries.sort { list.precedes($0, $1) }
    }

    func sameKey(_ left: Entry, _ right: Entry) -> Bool { left.head == right.head && Order.of(key(left), key(right)) == 0 }

    /// Adds the entries of another list, with sealed records. The keys of both lists must begin with the common prefix of this list.
    mutating func append(_ other: WriteList) {
        if other.isEmpty { return }
        let run = other.run()
        for position in 0..<run.count { add(run.key(position), run.value(position)) }
    }

    /// Writes all entries in order. Skips the removal of a key that is set again.
    func write(to writer: any EngineWriter) throws {
        if entries.isEmpty { return }
        try writer.write(run())
    }

    private func run() -> WriteRun {
        var list = self
        list.sort()
        return WriteRun(list)
    }
}
