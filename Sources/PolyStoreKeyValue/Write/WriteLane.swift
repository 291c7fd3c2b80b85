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
        /// A record as it came, which is sealed when it is written; nil: the value lies behind the key.
        let record: UnsafeRawPointer?
        let keyCount: Int32
        /// The key must not be there yet.
        let mustBeNew: Bool
    }

    private(set) var entries: [Entry] = []
    private var isSorted = true
    let arena: RecordArena
    /// Of records as they came: how long their heads are; nil where they are not sealed.
    private let sealedHead: Int?

    /// An arena of its own keeps the keys of a lane together: once they are sorted they are read from all over it.
    /// - Parameter capacity: bytes of keys and values to be expected.
    init(capacity: Int = 256, sealedHead: Int? = nil) {
        arena = RecordArena(capacity: capacity)
        self.sealedHead = sealedHead
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Makes room for so many more keys.
    mutating func reserve(_ count: Int, keySize: Int) {
        if entries.isEmpty { self = WriteLane(capacity: count * keySize, sealedHead: sealedHead) }
        entries.reserveCapacity(entries.count + count)
    }

    /// Adds a key whose value, if any, lies right behind it in the arena.
    /// - Parameter record: the value, where it lies elsewhere; it must stay there.
    mutating func add(at offset: Int, keyCount: Int, valueCount: Int, mustBeNew: Bool = false, record: UnsafeRawPointer? = nil) {
        let key = arena.bytes(offset, keyCount)
        let entry = Entry(
            head: (Self.word(key, 5), Self.word(key, 13)), offset: offset, valueCount: valueCount, record: record,
            keyCount: Int32(keyCount), mustBeNew: mustBeNew)
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
        guard entries.count > 64, entries.count < UInt32.max else {
            let lane = self
            entries.sort { lane.precedes($0, $1) }
            return
        }
        // Places are sorted by a word of each key, and those whose word is the same by the next one, so that keys are not looked at in every comparison
        // and entries are moved only once.
        var places: [Place] = []
        places.reserveCapacity(entries.count)
        for (position, entry) in entries.enumerated() { places.append(Place(word: entry.head.0, position: UInt32(position))) }
        places.withUnsafeMutableBufferPointer { sort($0, wordAt: 5) }
        entries = places.map { entries[Int($0.position)] }
    }

    private struct Place {
        var word: UInt64
        let position: UInt32
    }

    /// - Parameter start: where the word in the places is from in the keys.
    private func sort(_ places: UnsafeMutableBufferPointer<Place>, wordAt start: Int) {
        var places = places
        places.sort { $0.word < $1.word }
        var low = 0
        while low < places.count {
            var high = low + 1
            while high < places.count, places[high].word == places[low].word { high += 1 }
            if high - low > 1 { sortAlike(UnsafeMutableBufferPointer(rebasing: places[low..<high]), from: start + 8) }
            low = high
        }
    }

    /// Sorts keys that are the same up to a place.
    private func sortAlike(_ places: UnsafeMutableBufferPointer<Place>, from start: Int) {
        if places.count > 8, places.contains(where: { Int(entries[Int($0.position)].keyCount) > start }) {
            for position in places.indices {
                let entry = entries[Int(places[position].position)]
                places[position].word = start == 13 ? entry.head.1 : Self.word(key(entry), start)
            }
            sort(places, wordAt: start)
        } else {
            var places = places
            places.sort { precedes(entries[Int($0.position)], entries[Int($1.position)]) }
        }
    }

    func sameKey(_ left: Entry, _ right: Entry) -> Bool { left.head == right.head && Order.of(key(left), key(right)) == 0 }

    /// Writes everything, in order. A removal of a key that is set again is left out.
    func write(to writer: any EngineWriter) throws {
        if entries.isEmpty { return }
        var lane = self
        lane.sort()
        try writer.write(WriteRun(lane, sealedHead))
    }
}

/// Keys in ascending order, each once, with what becomes of them.
public struct WriteRun {
    private let lane: WriteLane
    private let sealedHead: Int?
    private let sealed = RecordArena(capacity: 1024)
    private let entries: [WriteLane.Entry]

    init(_ lane: WriteLane, _ sealedHead: Int?) {
        self.lane = lane
        self.sealedHead = sealedHead
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
        let tail = entry.record != nil && sealedHead != nil ? RecordChecksum.tailSize : 0
        return Int(entry.keyCount) + max(0, entry.valueCount) + tail
    }

    /// Whether the key with a number is removed.
    public func isRemoved(_ position: Int) -> Bool { entry(position).valueCount < 0 }

    /// The new value of the key with a number, valid until the next call; nil: it is removed.
    public func value(_ position: Int) -> UnsafeRawBufferPointer? {
        let entry = entry(position)
        guard let value = lane.value(entry) else { return nil }
        guard entry.record != nil, let sealedHead else { return value }
        sealed.removeAll()
        _ = sealed.append(value)
        withUnsafeBytes(of: UInt32(0)) { _ = sealed.append($0) }
        let bytes = UnsafeMutableRawBufferPointer(mutating: sealed.bytes(0, value.count + RecordChecksum.tailSize))
        RecordChecksum.seal(bytes, head: sealedHead, key: lane.key(entry))
        return UnsafeRawBufferPointer(bytes)
    }
}
