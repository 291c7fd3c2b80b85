import Synchronization

/// The objects of one entity in one context, by key; holds none of them alive.
///
/// A hash table of lines. A line is 64 bytes, as a cache's: the number of seven neighbouring keys and what they lead to. Keys come from a
/// sequence, so objects that are read in a row share lines, and where few objects of many live at a time the table stays small; both
/// matter more than the arithmetic, as nearly all the time of a look-up is waiting for memory. Lines lie where their number's hash says or
/// in the next free place; an emptied line goes at once, and those behind it move up, so there are no marks of deleted ones.
///
/// A context, and with it a map, is used by one thread at a time, its owner; only the owner looks objects up and inserts them. An object, however, may be
/// released by any thread, and its deinit removes it from the map. Both are made safe by `lock`, which is held for a few instructions:
///
/// - A deinit holds the lock while it clears the object's word. The object's memory is freed afterwards, so a pointer that is read under the lock is valid.
/// - A look-up that finds a pointer takes the lock, reads the word again and retains the object, unless that is being deinitialized by another thread.
/// - Lines move only when the table is rebuilt, which the owner does under the lock. So the owner needs no lock to find a line, to find that there is no object,
///   and to insert one; a deinit clears words, but leaves the lines where they are. Empty lines are removed when the table is rebuilt.
@usableFromInline
final class IdentityMap {
    /// One word for the number of the line, plus one, or 0 for none; then a pointer to an object, or 0, for each of its keys.
    @usableFromInline typealias Line = UnsafeMutablePointer<Atomic<UInt>>

    @usableFromInline static let width = 8
    @usableFromInline static let keysPerLine: UInt64 = 7
    /// Room for two lines: most transactions have few objects, and make a map for each entity that they touch.
    private static let leastCapacity = 4
    /// A table of few lines is in few lines of a cache wherever it is; aligned memory takes the allocator several times as long.
    private static let leastAlignedCapacity = 32

    /// The owner, as long as it lives; see ``owner``.
    @usableFromInline unowned(unsafe) let context: Context
    /// The entity's index in the context's table.
    @usableFromInline let slot: Int32
    /// Whether its objects are of several classes, so that casts have to be checked.
    @usableFromInline let isPolymorphic: Bool
    /// Whether the objects keep the context alive: one reference of the map for all of them. Otherwise the context may end before them.
    @usableFromInline let keepsContext: Bool

    /// Protects the members below from the deinits of objects on other threads.
    @usableFromInline let lock = Atomic<UInt8>(0)
    /// The number of objects that refer to this map.
    @exclusivity(unchecked) private var holders = 0
    /// The context that has taken the objects over from one that has ended.
    @exclusivity(unchecked) private var heir: Unmanaged<Context>?
    /// Whether an object was inserted for a key while the one before was being deinitialized, so that a word may be of another object than the one that goes.
    @exclusivity(unchecked) private var hasReplaced = false
    /// The keys of deinitialized objects whose relationship lists the context still has.
    @exclusivity(unchecked) private var forgotten: [Int64] = []
    @usableFromInline let hasForgotten = Atomic<Bool>(false)
    /// The line of the last deinit, and its first word.
    @exclusivity(unchecked) private var clearedTag: UInt = 0
    @exclusivity(unchecked) private var clearedLine: Line?

    // Only the owner writes these, and those of the table under the lock.

    /// `capacity` lines; nil before the first object.
    @exclusivity(unchecked) private var lines: Line?
    /// A power of two.
    @exclusivity(unchecked) private var capacity = 0
    @exclusivity(unchecked) private var shift: UInt64 = 0
    @exclusivity(unchecked) private var used = 0
    /// The line that was looked at last, and its first word.
    @exclusivity(unchecked) @usableFromInline var lastTag: UInt = 0
    @exclusivity(unchecked) @usableFromInline var lastLine: Line?
    /// How many calls of ``beginBatch()`` are open, and how many objects were made since the outermost.
    @exclusivity(unchecked) @usableFromInline var batchDepth = 0
    @exclusivity(unchecked) @usableFromInline var batchCount = 0

    /// Whether nearly all that was fetched last was alive already, as when a list is fetched again.
    @exclusivity(unchecked) @usableFromInline private(set) var isWarm = false

    /// Whether the objects whose hashes are asked for are noted; see ``Transaction/lendSet(_:_:)``.
    @exclusivity(unchecked) @usableFromInline private(set) var isNoting = false
    @exclusivity(unchecked) private var noters = 0
    @exclusivity(unchecked) private var noted: [Int64] = []

    init(_ context: Context, slot: Int32, isPolymorphic: Bool, keepsContext: Bool) {
        self.context = context
        self.slot = slot
        self.isPolymorphic = isPolymorphic
        self.keepsContext = keepsContext
    }

    deinit { lines?.deallocate() }

    // MARK: The lock

    @inlinable @inline(__always)
    func acquire() { if lock.exchange(1, ordering: .acquiring) != 0 { waitForLock() } }

    @inlinable @inline(__always)
    func release() { lock.store(0, ordering: .releasing) }

    /// The lock is held for the time of a few instructions, or of the rebuilding of the table; a thread that does not get it soon sleeps.
    @usableFromInline
    func waitForLock() {
        var attempts = 0
        repeat {
            attempts += 1
            pauseThread(attempt: attempts)
        } while lock.load(ordering: .relaxed) != 0 || lock.exchange(1, ordering: .acquiring) != 0
    }

    // MARK: The context's life

    /// The context that answers for the objects.
    @inlinable
    var owner: Context { keepsContext ? context : currentOwner() }

    /// Where the objects do not keep the context alive, another thread may release it now.
    @usableFromInline
    func currentOwner() -> Context {
        var attempts = 0
        while true {
            acquire()
            let found = heir?.takeUnretainedValue() ?? tryRetained(Unmanaged.passUnretained(context).toOpaque()).map(Self.asContext)
            release()
            if let found { return found }
            // Its deinit is about to name an heir.
            attempts += 1
            pauseThread(attempt: attempts)
        }
    }

    private static func asContext(_ object: AnyObject) -> Context { unsafeDowncast(object, to: Context.self) }

    /// Called for each object that is made.
    @inlinable
    func willHold() { if batchDepth > 0 { batchCount &+= 1 } else { hold() } }

    @usableFromInline
    func hold() {
        acquire()
        holders &+= 1
        let isFirst = holders == 1
        release()
        if isFirst { keepContext() }
    }

    private func keepContext() { if keepsContext { _ = Unmanaged.passUnretained(context).retain() } }

    /// Stands for the objects of a batch until they are counted.
    private static let batchToken = 1 << 48

    /// Called before many objects are made: they are counted at the end, all at once.
    @usableFromInline
    func beginBatch() {
        batchDepth += 1
        guard batchDepth == 1 else { return }
        acquire()
        let isFirst = holders == 0
        holders &+= Self.batchToken
        release()
        if isFirst { keepContext() }
    }

    @usableFromInline
    func endBatch() {
        batchDepth -= 1
        guard batchDepth == 0 else { return }
        acquire()
        holders &+= batchCount &- Self.batchToken
        batchCount = 0
        if capacity > 256, holders * 16 < capacity { rebuild() }
        let released = holders == 0 && keepsContext ? Unmanaged.passUnretained(context) : nil
        release()
        released?.release()
    }

    /// Called when an object goes, on any thread: its last word, as the map may go with it.
    func forget(_ key: Int64, hasMembers: Bool) {
        acquire()
        clear(key)
        if hasMembers, heir == nil {
            forgotten.append(key)
            hasForgotten.store(true, ordering: .relaxed)
        }
        holders &-= 1
        let released = holders == 0 ? (keepsContext ? Unmanaged.passUnretained(context) : heir) : nil
        release()
        released?.release()
    }

    /// Whether any objects are alive.
    var isHeld: Bool {
        acquire()
        defer { release() }
        return holders > 0
    }

    /// Called when the context ends before its objects: they keep another one alive from now on.
    func leave(to heir: Context) {
        acquire()
        if holders > 0 { self.heir = Unmanaged.passRetained(heir) }
        release()
    }

    /// The keys of deinitialized objects whose relationship lists can be dropped, each time only the new ones.
    func takeForgotten() -> [Int64] {
        acquire()
        defer { release() }
        hasForgotten.store(false, ordering: .relaxed)
        defer { forgotten = [] }
        return forgotten
    }

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
    func object(_ key: Int64) -> AnyObject? {
        let (tag, place) = Self.place(of: key)
        guard let line = line(tag), line[place].load(ordering: .relaxed) != 0 else { return nil }
        return retained(line + place)
    }

    @usableFromInline
    func retained(_ word: Line) -> AnyObject? {
        acquire()
        defer { release() }
        guard let pointer = UnsafeMutableRawPointer(bitPattern: word.pointee.load(ordering: .relaxed)) else { return nil }
        if let object = tryRetained(pointer) { return object }
        // Another thread is deinitializing it, and waits for the lock.
        word.pointee.store(0, ordering: .relaxed)
        hasReplaced = true
        return nil
    }

    @inlinable
    func insert(_ key: Int64, _ object: AnyObject) {
        let (tag, place) = Self.place(of: key)
        let line = line(tag) ?? makeLine(tag)
        line[place].store(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), ordering: .relaxed)
    }

    /// Clears the word of an object that is being deinitialized. Under the lock, on any thread.
    private func clear(_ key: Int64) {
        let (tag, place) = Self.place(of: key)
        guard let line = tag == clearedTag ? clearedLine : search(tag) else { return }
        clearedTag = tag
        clearedLine = line
        if hasReplaced, let pointer = UnsafeMutableRawPointer(bitPattern: line[place].load(ordering: .relaxed)),
            !isDeallocating(pointer)
        {
            return
        }
        line[place].store(0, ordering: .relaxed)
    }

    /// The living objects, kept alive by the answer.
    var objects: [AnyObject] {
        acquire()
        defer { release() }
        guard let lines else { return [] }
        var found: [AnyObject] = []
        for number in 0..<capacity {
            let line = lines + number * Self.width
            if line[0].load(ordering: .relaxed) == 0 { continue }
            for place in 1..<Self.width {
                guard let pointer = UnsafeMutableRawPointer(bitPattern: line[place].load(ordering: .relaxed)) else { continue }
                if let object = tryRetained(pointer) { found.append(object) }
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

    /// The owner's way to a line that is not the last one.
    @usableFromInline
    func find(_ tag: UInt) -> Line? {
        guard let line = search(tag) else { return nil }
        lastTag = tag
        lastLine = line
        return line
    }

    private func search(_ tag: UInt) -> Line? {
        guard let lines else { return nil }
        var index = home(tag)
        while true {
            let line = lines + index &* Self.width
            let found = line[0].load(ordering: .relaxed)
            if found == tag { return line }
            if found == 0 { return nil }
            index = (index &+ 1) & (capacity &- 1)
        }
    }

    @usableFromInline
    func makeLine(_ tag: UInt) -> Line {
        removeLastLine()
        if (used + 1) * 3 > capacity * 2 {
            acquire()
            rebuild()
            release()
        }
        used += 1
        let line = free(tag)
        line[0].store(tag, ordering: .relaxed)
        lastTag = tag
        lastLine = line
        return line
    }

    /// Removes the line that was looked at last if its objects are gone and no other line was moved behind it: objects that are read one by one and released
    /// at once leave no lines behind, so that the table need not be rebuilt.
    private func removeLastLine() {
        guard let lines, let line = lastLine, Self.isEmpty(line) else { return }
        let next = ((line - lines) / Self.width &+ 1) & (capacity &- 1)
        guard lines[next &* Self.width].load(ordering: .relaxed) == 0 else { return }
        // Under the lock, as a deinit on another thread may be looking for its line. It looks for one that is not empty.
        acquire()
        line[0].store(0, ordering: .relaxed)
        clearedTag = 0
        clearedLine = nil
        used -= 1
        lastTag = 0
        lastLine = nil
        release()
    }

    /// The free line that a new number belongs into. Its words are 0.
    private func free(_ tag: UInt) -> Line {
        guard let lines else { preconditionFailure("A map without lines has no free one.") }
        var index = home(tag)
        while lines[index &* Self.width].load(ordering: .relaxed) != 0 { index = (index &+ 1) & (capacity &- 1) }
        return lines + index &* Self.width
    }

    private static func isEmpty(_ line: Line) -> Bool {
        var words: UInt = 0
        for place in 1..<width { words |= line[place].load(ordering: .relaxed) }
        return words == 0
    }

    /// Moves the lines that are not empty to a table of a size that fits them. Under the lock.
    private func rebuild() {
        let old = lines
        let oldCapacity = capacity
        used = 0
        for number in 0..<oldCapacity {
            guard let line = old.map({ $0 + number * Self.width }), line[0].load(ordering: .relaxed) != 0 else { continue }
            if Self.isEmpty(line) { line[0].store(0, ordering: .relaxed) } else { used += 1 }
        }
        // At most two fifths are used afterwards, so the next time comes after a quarter as many new lines as there is room for.
        capacity = Self.leastCapacity
        while (used + 1) * 5 > capacity * 2 { capacity *= 2 }
        shift = UInt64(64 - capacity.trailingZeroBitCount)
        let words = capacity * Self.width
        let room = UnsafeMutableRawPointer.allocate(
            byteCount: words * MemoryLayout<UInt>.stride, alignment: capacity < Self.leastAlignedCapacity ? 16 : 64)
        room.initializeMemory(as: UInt.self, repeating: 0, count: words)
        lines = room.bindMemory(to: Atomic<UInt>.self, capacity: words)
        lastTag = 0
        lastLine = nil
        clearedTag = 0
        clearedLine = nil
        guard let old else { return }
        for number in 0..<oldCapacity {
            let line = old + number * Self.width
            let tag = line[0].load(ordering: .relaxed)
            if tag == 0 { continue }
            let new = free(tag)
            for place in 0..<Self.width { new[place].store(line[place].load(ordering: .relaxed), ordering: .relaxed) }
        }
        old.deallocate()
    }
}
