import PolyStoreRuns
import Synchronization

/// The registered objects of one entity in one context by row id, without retaining them.
///
/// A hash table of buckets. A bucket has 64 bytes, the size of a cache line: the tag of seven consecutive row ids and the pointers to their objects. Row
/// ids come from a sequence, so objects read consecutively share buckets, and the table stays small if few of many objects live at a time. Both matter
/// more than arithmetic, because a lookup mostly waits for memory. A bucket is stored at the hash of its tag or in the next free offset (open
/// addressing). Removing an emptied bucket leaves no tombstones.
///
/// A context, and with it a map, is used by one thread at a time, its owner. Only the owner looks objects up and inserts them. An object, however,
/// may be released by any thread, and its deinit removes it from the map. Both are synchronized by `lock`, which is held for a few instructions:
///
/// - A deinit holds the lock while it clears the object's word. The object's memory is freed afterwards, so a pointer read under the lock is valid.
/// - A lookup that finds a pointer acquires the lock, reads the word again and retains the object, unless another thread is deinitializing it.
/// - Buckets move only when the table is rebuilt, which the owner does under the lock. The owner therefore needs no lock to find a bucket, to detect that
///   an object is not registered, and to insert one. A deinit clears words but does not remove buckets. Empty buckets are removed when the table is
///   rebuilt.
@usableFromInline
package final class IdentityMap {
    /// A tag word, which is 0 for a free bucket, followed by a pointer to the object, or 0, for each of its row ids.
    @usableFromInline typealias Bucket = UnsafeMutablePointer<Atomic<UInt>>

    @usableFromInline static let width = 8
    @usableFromInline static let keysPerBucket: UInt64 = 7
    /// The minimum capacity, with room for two buckets. Most transactions use few objects.
    private static let leastCapacity = 4
    /// The minimum number of buckets for aligned memory. A small table occupies few cache lines regardless of alignment, and aligned allocation takes
    /// several times as long.
    private static let leastAlignedCapacity = 32

    /// The owning context while it is alive; see ``owner``.
    @usableFromInline unowned(unsafe) let context: Context
    /// The entity's index in the context's table.
    @usableFromInline let entityIndex: Int32
    /// A Boolean value that indicates whether the objects are of several classes, so that casts must be checked.
    @usableFromInline let isPolymorphic: Bool
    /// A Boolean value that indicates whether the objects keep the context alive, through one reference held by the map. Otherwise the context may be
    /// released before them.
    @usableFromInline let keepsContext: Bool

    /// Protects the properties below from deinits of objects on other threads.
    @usableFromInline let lock = Atomic<UInt8>(0)
    /// The number of objects that reference this map.
    @exclusivity(unchecked) private var holders = 0
    /// The context that has adopted the objects of a released context.
    @exclusivity(unchecked) private var heir: Unmanaged<Context>?
    /// A Boolean value that indicates whether an object was inserted while its predecessor with the same row id was being deinitialized, so that a
    /// word may belong to another object.
    @exclusivity(unchecked) private var hasReplaced = false
    /// The row ids of deinitialized objects whose member lists the context still caches.
    @exclusivity(unchecked) private var forgotten: [Int64] = []
    @usableFromInline let hasForgotten = Atomic<Bool>(false)
    /// The most recently cleared bucket, and its tag.
    @exclusivity(unchecked) private var clearedTag: UInt = 0
    @exclusivity(unchecked) private var clearedBucket: Bucket?

    // Written only by the owner; the properties of the table are written under the lock.

    /// The `capacity` buckets; nil before the first object is inserted.
    @exclusivity(unchecked) private var buckets: Bucket?
    /// The number of buckets, a power of two.
    @exclusivity(unchecked) private var capacity = 0
    @exclusivity(unchecked) private var shift: UInt64 = 0
    @exclusivity(unchecked) private var used = 0
    /// The most recently used bucket, and its tag.
    @exclusivity(unchecked) @usableFromInline var lastTag: UInt = 0
    @exclusivity(unchecked) @usableFromInline var lastBucket: Bucket?
    /// The number of nested ``beginBatch()`` calls, and the number of objects created since the outermost one.
    @exclusivity(unchecked) @usableFromInline var batchDepth = 0
    @exclusivity(unchecked) @usableFromInline var batchCount = 0

    /// A Boolean value that indicates whether nearly all objects of the last fetch were already registered, as when a list is fetched repeatedly.
    @exclusivity(unchecked) @usableFromInline private(set) var isWarm = false

    /// A Boolean value that indicates whether a list of objects of the entity was changed in place and must be compared before a relationship of such an
    /// object is read; see ``Context/settleMembers()``.
    @exclusivity(unchecked) @usableFromInline var isUnsettled = false

    /// A Boolean value that indicates whether hashed objects are recorded; see ``Editor/beginSetMutation(_:_:)``.
    @exclusivity(unchecked) @usableFromInline private(set) var isRecording = false
    @exclusivity(unchecked) private var recorderCount = 0
    @exclusivity(unchecked) private var recorded: [Int64] = []

    init(_ context: Context, entityIndex: Int32, isPolymorphic: Bool, keepsContext: Bool) {
        self.context = context
        self.entityIndex = entityIndex
        self.isPolymorphic = isPolymorphic
        self.keepsContext = keepsContext
    }

    deinit { buckets?.deallocate() }

    // MARK: The lock

    @inlinable @inline(__always)
    func acquire() { if lock.exchange(1, ordering: .acquiring) != 0 { waitForLock() } }

    @inlinable @inline(__always)
    func release() { lock.store(0, ordering: .releasing) }

    /// The lock is held for a few instructions, or while the table is rebuilt. A thread that cannot acquire it soon sleeps.
    @usableFromInline
    func waitForLock() {
        var attempts = 0
        repeat {
            attempts += 1
            pauseThread(attempt: attempts)
        } while lock.load(ordering: .relaxed) != 0 || lock.exchange(1, ordering: .acquiring) != 0
    }

    // MARK: Lifetime of the context

    /// The context that the objects belong to.
    @inlinable
    var owner: Context { keepsContext ? context : currentOwner() }

    /// If the objects do not keep the context alive, another thread may be releasing it now.
    @usableFromInline
    func currentOwner() -> Context {
        var attempts = 0
        while true {
            acquire()
            let found = heir?.takeUnretainedValue() ?? tryRetained(Unmanaged.passUnretained(context).toOpaque()).map(Self.asContext)
            release()
            if let found { return found }
            // The context's deinit is about to set `heir`.
            attempts += 1
            pauseThread(attempt: attempts)
        }
    }

    private static func asContext(_ object: AnyObject) -> Context { unsafeDowncast(object, to: Context.self) }

    /// Called for each created object.
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

    /// A placeholder in `holders` for the objects of a batch until they are counted.
    private static let batchToken = 1 << 48

    /// Called before many objects are created. They are counted together at the end.
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

    /// Called when an object is deinitialized, on any thread. The object must not use the map afterwards, because the map may be released.
    func forget(_ rowID: Int64, hasMembers: Bool) {
        acquire()
        clear(rowID)
        if hasMembers, heir == nil {
            forgotten.append(rowID)
            hasForgotten.store(true, ordering: .relaxed)
        }
        holders &-= 1
        let released = holders == 0 ? (keepsContext ? Unmanaged.passUnretained(context) : heir) : nil
        release()
        released?.release()
    }

    /// A Boolean value that indicates whether any objects are alive.
    var isHeld: Bool {
        acquire()
        defer { release() }
        return holders > 0
    }

    /// Called when the context is released before its objects. They retain another context from then on.
    func leave(to heir: Context) {
        acquire()
        if holders > 0 { self.heir = Unmanaged.passRetained(heir) }
        release()
    }

    /// Returns and removes the row ids of deinitialized objects whose member lists can be removed.
    func takeForgotten() -> [Int64] {
        acquire()
        defer { release() }
        hasForgotten.store(false, ordering: .relaxed)
        defer { forgotten = [] }
        return forgotten
    }

    // MARK: Fetch statistics

    /// The minimum number of rows of a fetch from which the next one is predicted.
    @usableFromInline static let telling = 64

    /// Returns whether reading the rows of a fetch was unnecessary for nearly all of them.
    @inlinable
    static func isMost(_ registered: Int, of rows: Int) -> Bool { (rows &- registered) &* 16 <= max(rows, telling) }

    /// Called after each fetch of rows. Small fetches are ignored.
    @inlinable
    func noteFetch(registered: Int, of rows: Int) { if rows >= Self.telling { setWarm(Self.isMost(registered, of: rows)) } }

    @usableFromInline
    func setWarm(_ isWarm: Bool) { self.isWarm = isWarm }

    // MARK: Recording of hashed objects

    @usableFromInline
    func record(_ rowID: Int64) { recorded.append(rowID) }

    /// Starts recording.
    /// - Returns: the start of the new records.
    func beginRecording() -> Int {
        recorderCount += 1
        isRecording = true
        return recorded.count
    }

    /// Ends recording.
    /// - Returns: the row ids of the objects hashed since the start.
    func endRecording(_ first: Int) -> [Int64] {
        let found = Array(recorded[first...])
        recorderCount -= 1
        if recorderCount == 0 {
            recorded.removeAll(keepingCapacity: recorded.count < 1024)
            isRecording = false
        }
        return found
    }

    // MARK: Objects

    /// Returns the registered object with a row id, if it is alive.
    @inlinable
    func object(_ rowID: Int64) -> AnyObject? {
        let (tag, offset) = Self.offset(of: rowID)
        guard let bucket = bucket(tag), bucket[offset].load(ordering: .relaxed) != 0 else { return nil }
        return retained(bucket + offset)
    }

    @usableFromInline
    func retained(_ word: Bucket) -> AnyObject? {
        acquire()
        defer { release() }
        guard let pointer = UnsafeMutableRawPointer(bitPattern: word.pointee.load(ordering: .relaxed)) else { return nil }
        if let object = tryRetained(pointer) { return object }
        // Another thread is deinitializing it and waits for the lock.
        word.pointee.store(0, ordering: .relaxed)
        hasReplaced = true
        return nil
    }

    @inlinable
    func insert(_ rowID: Int64, _ object: AnyObject) {
        let (tag, offset) = Self.offset(of: rowID)
        let bucket = bucket(tag) ?? makeBucket(tag)
        bucket[offset].store(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), ordering: .relaxed)
    }

    /// Clears the word of an object that is being deinitialized. Called under the lock, on any thread.
    private func clear(_ rowID: Int64) {
        let (tag, offset) = Self.offset(of: rowID)
        guard let bucket = tag == clearedTag ? clearedBucket : search(tag) else { return }
        clearedTag = tag
        clearedBucket = bucket
        if hasReplaced, let pointer = UnsafeMutableRawPointer(bitPattern: bucket[offset].load(ordering: .relaxed)),
            !isDeallocating(pointer)
        {
            return
        }
        bucket[offset].store(0, ordering: .relaxed)
    }

    /// The registered objects, retained by the result.
    var objects: [AnyObject] {
        acquire()
        defer { release() }
        guard let buckets else { return [] }
        var found: [AnyObject] = []
        for number in 0..<capacity {
            let bucket = buckets + number * Self.width
            if bucket[0].load(ordering: .relaxed) == 0 { continue }
            for offset in 1..<Self.width {
                guard let pointer = UnsafeMutableRawPointer(bitPattern: bucket[offset].load(ordering: .relaxed)) else { continue }
                if let object = tryRetained(pointer) { found.append(object) }
            }
        }
        return found
    }

    // MARK: Buckets

    /// Returns the tag of a row id's bucket and the position of the row id in it.
    @inlinable @inline(__always)
    static func offset(of rowID: Int64) -> (tag: UInt, offset: Int) {
        let rowID = UInt64(bitPattern: rowID)
        let number = rowID / keysPerBucket
        return (UInt(truncatingIfNeeded: number &+ 1), Int(truncatingIfNeeded: rowID &- number &* keysPerBucket &+ 1))
    }

    @inlinable @inline(__always)
    func bucket(_ tag: UInt) -> Bucket? { tag == lastTag ? lastBucket : find(tag) }

    /// Returns the preferred index of a bucket.
    private func home(_ tag: UInt) -> Int {
        // Fibonacci hashing: multiplying by the golden ratio distributes consecutive tags well, especially in the highest bits.
        Int(truncatingIfNeeded: (UInt64(truncatingIfNeeded: tag) &* 0x9e37_79b9_7f4a_7c15) &>> shift)
    }

    /// Finds a bucket other than the most recently used one. Called by the owner.
    @usableFromInline
    func find(_ tag: UInt) -> Bucket? {
        guard let bucket = search(tag) else { return nil }
        lastTag = tag
        lastBucket = bucket
        return bucket
    }

    private func search(_ tag: UInt) -> Bucket? {
        guard let buckets else { return nil }
        var index = home(tag)
        while true {
            let bucket = buckets + index &* Self.width
            let found = bucket[0].load(ordering: .relaxed)
            if found == tag { return bucket }
            if found == 0 { return nil }
            index = (index &+ 1) & (capacity &- 1)
        }
    }

    @usableFromInline
    func makeBucket(_ tag: UInt) -> Bucket {
        removeLastBucket()
        if (used + 1) * 3 > capacity * 2 {
            acquire()
            rebuild()
            release()
        }
        used += 1
        let bucket = free(tag)
        bucket[0].store(tag, ordering: .relaxed)
        lastTag = tag
        lastBucket = bucket
        return bucket
    }

    /// Removes the most recently used bucket if its objects were released and no other bucket depends on it. Objects that are read and released one by
    /// one then leave no buckets, and the table is not rebuilt.
    private func removeLastBucket() {
        guard let buckets, let bucket = lastBucket, Self.isEmpty(bucket) else { return }
        let next = ((bucket - buckets) / Self.width &+ 1) & (capacity &- 1)
        guard buckets[next &* Self.width].load(ordering: .relaxed) == 0 else { return }
        // The lock is required because a deinit on another thread may be searching for its bucket, which is not empty.
        acquire()
        bucket[0].store(0, ordering: .relaxed)
        clearedTag = 0
        clearedBucket = nil
        used -= 1
        lastTag = 0
        lastBucket = nil
        release()
    }

    /// Returns the free bucket for a new tag. Its words are 0.
    private func free(_ tag: UInt) -> Bucket {
        guard let buckets else { preconditionFailure("A map without buckets has no free one.") }
        var index = home(tag)
        while buckets[index &* Self.width].load(ordering: .relaxed) != 0 { index = (index &+ 1) & (capacity &- 1) }
        return buckets + index &* Self.width
    }

    private static func isEmpty(_ bucket: Bucket) -> Bool {
        var words: UInt = 0
        for offset in 1..<width { words |= bucket[offset].load(ordering: .relaxed) }
        return words == 0
    }

    /// Moves non-empty buckets to a new table of suitable size. Called under the lock.
    private func rebuild() {
        let old = buckets
        let oldCapacity = capacity
        used = 0
        for number in 0..<oldCapacity {
            guard let bucket = old.map({ $0 + number * Self.width }), bucket[0].load(ordering: .relaxed) != 0 else { continue }
            if Self.isEmpty(bucket) { bucket[0].store(0, ordering: .relaxed) } else { used += 1 }
        }
        // At most two fifths are used afterwards, so at least a quarter of the capacity can be added before the next rebuild.
        capacity = Self.leastCapacity
        while (used + 1) * 5 > capacity * 2 { capacity *= 2 }
        shift = UInt64(64 - capacity.trailingZeroBitCount)
        let words = capacity * Self.width
        let room = UnsafeMutableRawPointer.allocate(
            byteCount: words * MemoryLayout<UInt>.stride, alignment: capacity < Self.leastAlignedCapacity ? 16 : 64)
        room.initializeMemory(as: UInt.self, repeating: 0, count: words)
        buckets = room.bindMemory(to: Atomic<UInt>.self, capacity: words)
        lastTag = 0
        lastBucket = nil
        clearedTag = 0
        clearedBucket = nil
        guard let old else { return }
        for number in 0..<oldCapacity {
            let bucket = old + number * Self.width
            let tag = bucket[0].load(ordering: .relaxed)
            if tag == 0 { continue }
            let new = free(tag)
            for offset in 0..<Self.width { new[offset].store(bucket[offset].load(ordering: .relaxed), ordering: .relaxed) }
        }
        old.deallocate()
    }
}
