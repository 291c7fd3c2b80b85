/// The occurrences of terms in documents, as they are collected in memory: a hash table of terms, and for each term a chain of slices of one arena.
///
/// A document that is changed has a slot, numbered in the order of the changes. The bytes of a term are varints. An even number is a further position in the same field: twice
/// the difference to the one before. An odd number begins a slot or a field: four times the difference to the slot before, plus 1; plus 3 if the old text of the document has
/// the term. After the number plus 1 follow the field (if the index has several) and the position.
final class PostingTable {
    struct Entry {
        var hash: UInt32
        var termStart: UInt32
        var termCount: UInt16
        var field: UInt8
        var level: UInt8
        /// The last slot plus 1; 0 if there is none.
        var slot: UInt32
        var hasNew: Bool
        var position: UInt32
        var head: UInt32
        var tail: UInt32
        var limit: UInt32
    }

    private static let sliceSizes = [16, 24, 48, 96, 192, 384, 768, 1_024]

    private let fields: Int
    private(set) var count = 0
    private var entries: UnsafeMutablePointer<Entry>
    private var entryCapacity: Int
    private var buckets: UnsafeMutablePointer<UInt32>
    private var bucketCount: Int
    private var arena: UnsafeMutablePointer<UInt8>
    private var arenaCapacity: Int
    private var arenaCount = 0

    private static let leastEntries = 256
    private static let leastBuckets = 512
    private static let leastArena = 16_384

    init(fields: Int) {
        self.fields = fields
        (entryCapacity, bucketCount, arenaCapacity) = (Self.leastEntries, Self.leastBuckets, Self.leastArena)
        entries = .allocate(capacity: entryCapacity)
        buckets = .allocate(capacity: bucketCount)
        buckets.initialize(repeating: 0, count: bucketCount)
        arena = .allocate(capacity: arenaCapacity)
    }

    deinit {
        entries.deallocate()
        buckets.deallocate()
        arena.deallocate()
    }

    /// The number of bytes that the table uses.
    var size: Int { arenaCount + count * MemoryLayout<Entry>.stride + bucketCount * 4 }

    /// Removes all terms. A table that has become large is made small again, because later changes would have to clear it each time.
    func removeAll() {
        count = 0
        arenaCount = 0
        guard bucketCount > 1 << 16 || arenaCapacity > 1 << 22 else { return buckets.update(repeating: 0, count: bucketCount) }
        entries.deallocate()
        buckets.deallocate()
        arena.deallocate()
        (entryCapacity, bucketCount, arenaCapacity) = (Self.leastEntries, Self.leastBuckets, Self.leastArena)
        entries = .allocate(capacity: entryCapacity)
        buckets = .allocate(capacity: bucketCount)
        buckets.initialize(repeating: 0, count: bucketCount)
        arena = .allocate(capacity: arenaCapacity)
    }

    /// Adds an occurrence.
    @inline(__always)
    func add(_ term: UnsafeBufferPointer<UInt8>, slot: Int, field: Int, position: Int) {
        let entry = find(term)
        let number = UInt32(truncatingIfNeeded: slot) + 1
        let position = UInt32(truncatingIfNeeded: position)
        if entry.pointee.slot == number, entry.pointee.hasNew, entry.pointee.field == UInt8(truncatingIfNeeded: field) {
            append(UInt64(position &- entry.pointee.position) << 1, to: entry)
        } else {
            append(UInt64(number - entry.pointee.slot) << 2 | 1, to: entry)
            entry.pointee.slot = number
            entry.pointee.hasNew = true
            entry.pointee.field = UInt8(truncatingIfNeeded: field)
            if fields > 1 { append(UInt64(field), to: entry) }
            append(UInt64(position), to: entry)
        }
        entry.pointee.position = position
    }

    /// Notes that the old text of the document of a slot has a term. All terms of old texts come before those of the new ones.
    func addOld(_ term: UnsafeBufferPointer<UInt8>, slot: Int) {
        let entry = find(term)
        let number = UInt32(truncatingIfNeeded: slot) + 1
        guard entry.pointee.slot != number else { return }
        append(UInt64(number - entry.pointee.slot) << 2 | 3, to: entry)
        entry.pointee.slot = number
        entry.pointee.hasNew = false
    }

    @inline(__always)
    private func find(_ term: UnsafeBufferPointer<UInt8>) -> UnsafeMutablePointer<Entry> {
        let length = min(term.count, PageKey.maximumTermLength)
        let hash = Self.hash(term.baseAddress, length)
        var bucket = Int(hash) & (bucketCount - 1)
        while buckets[bucket] != 0 {
            let entry = entries + Int(buckets[bucket] - 1)
            if entry.pointee.hash == hash, Int(entry.pointee.termCount) == length,
                Self.isEqual(arena + Int(entry.pointee.termStart), term.baseAddress, length)
            {
                return entry
            }
            bucket = (bucket + 1) & (bucketCount - 1)
        }
        return insert(term, length, hash, bucket)
    }

    @inline(__always)
    private static func hash(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> UInt32 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(count)
        guard let bytes else { return UInt32(truncatingIfNeeded: hash) }
        var offset = 0
        while offset + 8 <= count {
            hash = (hash ^ UnsafeRawPointer(bytes + offset).loadUnaligned(as: UInt64.self)) &* 0x9e37_79b9_7f4a_7c15
            hash ^= hash >> 29
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        hash = (hash ^ rest) &* 0x9e37_79b9_7f4a_7c15
        return UInt32(truncatingIfNeeded: hash ^ hash >> 32)
    }

    @inline(__always)
    private static func isEqual(_ left: UnsafeMutablePointer<UInt8>, _ right: UnsafePointer<UInt8>?, _ count: Int) -> Bool {
        guard let right else { return true }
        for offset in 0..<count where left[offset] != right[offset] { return false }
        return true
    }

    @inline(never)
    private func insert(_ term: UnsafeBufferPointer<UInt8>, _ length: Int, _ hash: UInt32, _ bucket: Int) -> UnsafeMutablePointer<Entry> {
        if count == entryCapacity { growEntries() }
        let start = allocate(length)
        if let base = term.baseAddress { (arena + start).update(from: base, count: length) }
        let slice = allocate(Self.sliceSizes[0])
        (entries + count).initialize(
            to: Entry(
                hash: hash, termStart: UInt32(start), termCount: UInt16(length), field: 0, level: 0, slot: 0, hasNew: false,
                position: 0, head: UInt32(slice), tail: UInt32(slice), limit: UInt32(slice + Self.sliceSizes[0] - 4)
            )
        )
        count += 1
        buckets[bucket] = UInt32(count)
        if count * 2 > bucketCount { growBuckets() }
        return entries + count - 1
    }

    private func growEntries() {
        let larger = UnsafeMutablePointer<Entry>.allocate(capacity: entryCapacity * 2)
        larger.moveInitialize(from: entries, count: count)
        entries.deallocate()
        entries = larger
        entryCapacity *= 2
    }

    private func growBuckets() {
        buckets.deallocate()
        bucketCount *= 2
        buckets = .allocate(capacity: bucketCount)
        buckets.initialize(repeating: 0, count: bucketCount)
        for index in 0..<count {
            var bucket = Int(entries[index].hash) & (bucketCount - 1)
            while buckets[bucket] != 0 { bucket = (bucket + 1) & (bucketCount - 1) }
            buckets[bucket] = UInt32(index + 1)
        }
    }

    private func allocate(_ size: Int) -> Int {
        if arenaCount + size > arenaCapacity {
            arenaCapacity = max(arenaCapacity * 2, arenaCount + size)
            let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: arenaCapacity)
            larger.update(from: arena, count: arenaCount)
            arena.deallocate()
            arena = larger
        }
        defer { arenaCount += size }
        return arenaCount
    }

    @inline(__always)
    private func append(_ value: UInt64, to entry: UnsafeMutablePointer<Entry>) {
        var rest = value
        while rest >= 128 {
            append(UInt8(truncatingIfNeeded: rest) | 128, to: entry)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest), to: entry)
    }

    @inline(__always)
    private func append(_ byte: UInt8, to entry: UnsafeMutablePointer<Entry>) {
        if entry.pointee.tail == entry.pointee.limit { addSlice(to: entry) }
        arena[Int(entry.pointee.tail)] = byte
        entry.pointee.tail += 1
    }

    @inline(never)
    private func addSlice(to entry: UnsafeMutablePointer<Entry>) {
        let level = min(Int(entry.pointee.level) + 1, Self.sliceSizes.count - 1)
        let size = Self.sliceSizes[level]
        let start = allocate(size)
        UnsafeMutableRawPointer(arena + Int(entry.pointee.limit)).storeBytes(of: UInt32(start), as: UInt32.self)
        entry.pointee.level = UInt8(level)
        entry.pointee.tail = UInt32(start)
        entry.pointee.limit = UInt32(start + size - 4)
    }
}

/// Reading.
extension PostingTable {
    /// The indexes of the terms, in the order of their bytes.
    func sorted() -> [Int] {
        let keys = (0..<count).map { index -> (prefix: UInt64, index: Int) in
            let entry = entries[index]
            var prefix: UInt64 = 0
            for offset in 0..<8 {
                prefix = prefix << 8 | (offset < Int(entry.termCount) ? UInt64(arena[Int(entry.termStart) + offset]) : 0)
            }
            return (prefix, index)
        }
        return keys.sorted { left, right in
            left.prefix != right.prefix ? left.prefix < right.prefix : precedes(entries[left.index], entries[right.index])
        }.map(\.index)
    }

    private func precedes(_ left: Entry, _ right: Entry) -> Bool {
        let leftTerm = UnsafeBufferPointer(start: arena + Int(left.termStart), count: Int(left.termCount))
        let rightTerm = UnsafeBufferPointer(start: arena + Int(right.termStart), count: Int(right.termCount))
        return leftTerm.lexicographicallyPrecedes(rightTerm)
    }

    func copyTerm(_ index: Int, to buffer: inout TermBuffer) {
        buffer.set(arena + Int(entries[index].termStart), Int(entries[index].termCount))
    }

    /// Copies the bytes of a term.
    func copy(_ index: Int, to buffer: ByteBuffer) {
        let entry = entries[index]
        var start = Int(entry.head)
        var level = 0
        while true {
            let limit = start + Self.sliceSizes[level] - 4
            if Int(entry.limit) == limit { return buffer.append(arena + start, count: Int(entry.tail) - start) }
            buffer.append(arena + start, count: limit - start)
            start = Int(UnsafeRawPointer(arena + limit).loadUnaligned(as: UInt32.self))
            level = min(level + 1, Self.sliceSizes.count - 1)
        }
    }
}
