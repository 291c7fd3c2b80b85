import PolyStoreBackend

/// Keys that begin alike, with what becomes of them: to be brought into order before they are written, as engines take ordered keys several times
/// faster.
struct WriteLane {
    struct Entry {
        /// Bytes 5 to 20 of the key: what comes after the number that all keys of the lane share. Decides nearly every comparison.
        let head: (UInt64, UInt64)
        let offset: Int
        /// −1: the key is removed.
        let valueCount: Int
        let keyCount: Int32
        /// The key must not be there yet.
        let mustBeNew: Bool
    }

    private(set) var entries: [Entry] = []
    private var isSorted = true
    private let arena: RecordArena

    init(_ arena: RecordArena) { self.arena = arena }

    var isEmpty: Bool { entries.isEmpty }

    mutating func reserve(_ count: Int) { entries.reserveCapacity(entries.count + count) }

    /// Adds a key whose value, if any, lies right behind it in the arena.
    mutating func add(at offset: Int, keyCount: Int, valueCount: Int, mustBeNew: Bool = false) {
        let key = arena.bytes(offset, keyCount)
        let entry = Entry(
            head: (Self.word(key, 5), Self.word(key, 13)), offset: offset, valueCount: valueCount, keyCount: Int32(keyCount),
            mustBeNew: mustBeNew)
        if isSorted, let last = entries.last, !precedes(last, entry) { isSorted = false }
        entries.append(entry)
    }

    /// Copies a key in, with or without a value.
    mutating func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?, mustBeNew: Bool = false) {
        let offset = arena.append(key)
        if let value { _ = arena.append(value) }
        add(at: offset, keyCount: key.count, valueCount: value?.count ?? -1, mustBeNew: mustBeNew)
    }

    private static func word(_ key: UnsafeRawBufferPointer, _ at: Int) -> UInt64 {
        if at + 8 <= key.count { return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: at, as: UInt64.self)) }
        var word: UInt64 = 0
        for position in at..<at + 8 { word = word << 8 | (position < key.count ? UInt64(key[position]) : 0) }
        return word
    }

    func key(_ entry: Entry) -> UnsafeRawBufferPointer { arena.bytes(entry.offset, Int(entry.keyCount)) }
    func value(_ entry: Entry) -> UnsafeRawBufferPointer? {
        entry.valueCount < 0 ? nil : arena.bytes(entry.offset + Int(entry.keyCount), entry.valueCount)
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
        let lane = self
        entries.sort { lane.precedes($0, $1) }
        isSorted = true
    }

    func sameKey(_ left: Entry, _ right: Entry) -> Bool { left.head == right.head && Order.of(key(left), key(right)) == 0 }

    /// Writes everything, in order. A removal of a key that is set again is left out.
    func write(to writer: any EngineWriter) throws {
        for (position, entry) in entries.enumerated() {
            if let value = value(entry) {
                try writer.put(key(entry), value)
            } else if position + 1 == entries.count || !sameKey(entry, entries[position + 1]) {
                try writer.remove(key(entry))
            }
        }
    }
}
