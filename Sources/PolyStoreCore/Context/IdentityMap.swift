/// The objects of one entity in one context, by key; holds none of them alive.
///
/// A hash table of lines. A line is 64 bytes, as a cache's: the number of seven neighbouring keys and what they lead to. Keys come from a
/// sequence, so objects that are read in a row share lines, and where few objects of many live at a time the table stays small; both
/// matter more than the arithmetic, as nearly all the time of a look-up is waiting for memory. Lines lie where their number's hash says or
/// in the next free place; an emptied line goes at once, and those behind it move up, so there are no marks of deleted ones.
///
/// A map belongs to a context, and a context to one thread at a time; no access to a property lasts longer than a line. Hence the unchecked
/// exclusivity.
@usableFromInline
final class IdentityMap {
    /// One word for the number of the line, plus one, or 0 for none; then a pointer to an object, or 0, for each of its keys.
    @usableFromInline typealias Line = UnsafeMutablePointer<UInt>

    @usableFromInline static let width = 8
    @usableFromInline static let keysPerLine: UInt64 = 7
    private static let leastCapacity = 16

    /// The owner. It owns this map, so it is there whenever the map is used.
    @usableFromInline unowned(unsafe) let context: Context
    /// The entity's place in the context's table.
    @usableFromInline let slot: Int32
    /// Whether its objects are of several classes, so that casts have to be checked.
    @usableFromInline let isPolymorphic: Bool
    /// Objects that refer to this map. While there are any, the map keeps its context alive: one reference for all of them.
    @exclusivity(unchecked) @usableFromInline var holders = 0

    /// `capacity` lines; nil before the first object.
    @exclusivity(unchecked) private var lines: Line?
    /// A power of two.
    @exclusivity(unchecked) private var capacity = 0
    @exclusivity(unchecked) private var shift: UInt64 = 0
    @exclusivity(unchecked) private var used = 0
    /// The line that was looked at last, and its first word.
    @exclusivity(unchecked) @usableFromInline var lastTag: UInt = 0
    @exclusivity(unchecked) @usableFromInline var lastLine: Line?

    /// Whether nearly all that was fetched last was alive already, as when a list is fetched again.
    @exclusivity(unchecked) @usableFromInline private(set) var isWarm = false

    /// Whether the objects whose hashes are asked for are noted; see ``Transaction/lendSet(_:_:)``.
    @exclusivity(unchecked) @usableFromInline private(set) var isNoting = false
    @exclusivity(unchecked) private var noters = 0
    @exclusivity(unchecked) private var noted: [Int64] = []

    init(_ context: Context, slot: Int32, isPolymorphic: Bool) {
        self.context = context
        self.slot = slot
        self.isPolymorphic = isPolymorphic
    }

    deinit { lines?.deallocate() }

    // MARK: The context's life

    /// Called for each object that is made.
    @inlinable
    func willHold() {
        if holders == 0 { keepContext() }
        holders &+= 1
    }

    @usableFromInline
    func keepContext() { _ = Unmanaged.passUnretained(context).retain() }

    /// Called when an object goes: its last word, as the map may go with it.
    @inlinable
    func forget(_ key: Int64) {
        remove(key)
        holders &-= 1
        if holders == 0 { dropContext() }
    }

    /// Called for a living object that the context holds from now on.
    func letGo() {
        holders -= 1
        if holders == 0 { dropContext() }
    }

    @usableFromInline
    func dropContext() { Unmanaged.passUnretained(context).release() }

    // MARK: What was fetched

    /// The rows of a fetch that make it worth a guess about the next one.
    @usableFromInline static let telling = 64

    /// Whether so many of the rows of a fetch need not have been read.
    @inlinable
    static func isMost(_ living: Int, of rows: Int) -> Bool { (rows &- living) &* 16 <= max(rows, telling) }

    /// Called after each fetch of rows. Small ones tell nothing.
    @inlinable
    func noteFetch(living: Int, of rows: Int) { if rows >= Self.telling { setWarm(Self.isMost(living, of: rows)) } }

    @usableFromInline
    func setWarm(_ isWarm: Bool) { self.isWarm = isWarm }

    // MARK: What is looked for in sets

    @usableFromInline
    func note(_ key: Int64) { noted.append(key) }

    /// - Returns: where the notes begin.
    func beginNoting() -> Int {
        noters += 1
        isNoting = true
        return noted.count
    }

    /// - Returns: the keys of the objects whose hashes were asked for since the beginning.
    func endNoting(_ first: Int) -> [Int64] {
        let found = Array(noted[first...])
        noters -= 1
        if noters == 0 {
            noted.removeAll(keepingCapacity: noted.count < 1024)
            isNoting = false
        }
        return found
    }

    // MARK: Objects

    /// The object of a key, if one is alive.
    @inlinable
    func object(_ key: Int64) -> UnsafeMutableRawPointer? {
        let (tag, place) = Self.place(of: key)
        guard let line = line(tag) else { return nil }
        return UnsafeMutableRawPointer(bitPattern: line[place])
    }

    @inlinable
    func insert(_ key: Int64, _ object: AnyObject) { insert(key, Unmanaged.passUnretained(object).toOpaque()) }

    @inlinable
    func insert(_ key: Int64, _ object: UnsafeMutableRawPointer) {
        let (tag, place) = Self.place(of: key)
        let line = line(tag) ?? makeLine(tag)
        line[place] = UInt(bitPattern: object)
    }

    @inlinable
    func remove(_ key: Int64) {
        let (tag, place) = Self.place(of: key)
        guard let line = line(tag) else { return }
        line[place] = 0
        if line[1] | line[2] | line[3] | line[4] | line[5] | line[6] | line[7] == 0 { drop(line) }
    }

    /// The living objects, kept alive by the answer.
    var objects: [AnyObject] {
        guard let lines else { return [] }
        var found: [AnyObject] = []
        for index in 0..<capacity * Self.width where index % Self.width != 0 && lines[index - index % Self.width] != 0 {
            if let pointer = UnsafeMutableRawPointer(bitPattern: lines[index]) {
                found.append(Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue())
            }
        }
        return found
    }

    // MARK: Lines

    /// What the line of a key begins with, and the key's place in it.
    @inlinable @inline(__always)
    static func place(of key: Int64) -> (tag: UInt, place: Int) {
        let key = UInt64(bitPattern: key)
        let number = key / keysPerLine
        return (UInt(truncatingIfNeeded: number &+ 1), Int(truncatingIfNeeded: key &- number &* keysPerLine &+ 1))
    }

    @inlinable @inline(__always)
    func line(_ tag: UInt) -> Line? { tag == lastTag ? lastLine : find(tag) }

    /// Where a line belongs.
    private func home(_ tag: UInt) -> Int {
        // Fibonacci hashing: the golden ratio spreads numbers in a row, and the highest bits are the best.
        Int(truncatingIfNeeded: (UInt64(truncatingIfNeeded: tag) &* 0x9e37_79b9_7f4a_7c15) &>> shift)
    }

    @usableFromInline
    func find(_ tag: UInt) -> Line? {
        guard let lines else { return nil }
        var index = home(tag)
        while true {
            let line = lines + index &* Self.width
            let found = line[0]
            if found == tag {
                lastTag = tag
                lastLine = line
                return line
            }
            if found == 0 { return nil }
            index = (index &+ 1) & (capacity &- 1)
        }
    }

    @usableFromInline
    func makeLine(_ tag: UInt) -> Line {
        if (used + 1) * 3 > capacity * 2 { resize(to: max(capacity * 2, Self.leastCapacity)) }
        used += 1
        let line = free(tag)
        line[0] = tag
        lastTag = tag
        lastLine = line
        return line
    }

    /// The free line that a new number belongs into.
    private func free(_ tag: UInt) -> Line {
        guard let lines else { preconditionFailure("A map without lines has no free one.") }
        var index = home(tag)
        while lines[index &* Self.width] != 0 { index = (index &+ 1) & (capacity &- 1) }
        return lines + index &* Self.width
    }

    private func resize(to newCapacity: Int) {
        let old = lines
        let oldCapacity = capacity
        let words = newCapacity * Self.width
        let room = UnsafeMutableRawPointer.allocate(byteCount: words * MemoryLayout<UInt>.stride, alignment: 64)
        lines = room.initializeMemory(as: UInt.self, repeating: 0, count: words)
        capacity = newCapacity
        shift = UInt64(64 - newCapacity.trailingZeroBitCount)
        lastTag = 0
        lastLine = nil
        guard let old else { return }
        for index in 0..<oldCapacity {
            let line = old + index * Self.width
            if line[0] != 0 { free(line[0]).update(from: line, count: Self.width) }
        }
        old.deallocate()
    }

    /// Takes an empty line out.
    @usableFromInline
    func drop(_ line: Line) {
        guard let lines else { return }
        used -= 1
        lastTag = 0
        lastLine = nil
        // A line behind it stays only if its home lies behind the gap; any other would no longer be found.
        let mask = capacity &- 1
        var gap = (line - lines) / Self.width
        var index = gap
        while true {
            index = (index &+ 1) & mask
            let next = lines + index &* Self.width
            if next[0] == 0 { break }
            if (index &- home(next[0])) & mask >= (index &- gap) & mask {
                (lines + gap &* Self.width).update(from: next, count: Self.width)
                gap = index
            }
        }
        lines[gap &* Self.width] = 0
        // The other words of a free line are never looked at, but one that is taken must begin empty.
        (lines + (gap &* Self.width &+ 1)).update(repeating: 0, count: Self.width &- 1)
        if capacity > 256, used * 16 < capacity { resize(to: capacity / 4) }
    }
}
