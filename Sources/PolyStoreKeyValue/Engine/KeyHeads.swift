import PolyStoreBackend

/// A search index over the keys of a node: their common prefix, and the eight bytes of each key after it. Most searches never access the keys themselves, which
/// are scattered in memory.
struct KeyHeads {
    /// The length of the common prefix in bytes.
    private var shared = 0
    /// The first sixteen bytes of the common prefix, padded with zeros.
    private var beginning: (UInt64, UInt64) = (0, 0)
    /// The next eight bytes of each key, padded with zeros.
    private var heads: ContiguousArray<UInt64> = []
    /// The following eight bytes of each key; present only if some heads are equal.
    private var tails: ContiguousArray<UInt64> = []
    private var first: UInt64 = 0
    /// Each head exceeds the one before it by 1 << stride: the keys end in consecutive numbers. −1 otherwise.
    private var stride = -1
    /// The common length of all keys if the heads reach their ends, so that equal heads imply equal keys. −1 otherwise.
    private var length = -1

    init(_ entries: ContiguousArray<TreeEntry>) {
        guard let least = entries.first?.key, let greatest = entries.last?.key else { return }
        let most = min(least.count, greatest.count)
        while shared < most, least[shared] == greatest[shared] { shared += 1 }
        beginning = Self.beginning(least, shared)
        heads.reserveCapacity(OrderedTree.width + 1)
        var isLikeLong = most <= shared + 8
        for entry in entries {
            let key = entry.key
            heads.append(Self.word(key, shared))
            if key.count != most { isLikeLong = false }
        }
        if isLikeLong { length = most }
        if !hasUnlikeHeads() { for entry in entries { tails.append(Self.word(entry.key, shared + 8)) } }
    }

    /// Creates the heads of entries, reusing those of entries that are already indexed.
    /// - Parameter before: Returns the position of an entry among the entries of the old heads; negative for a new entry.
    init(_ entries: ContiguousArray<TreeEntry>, from old: KeyHeads, before: (_ position: Int) -> Int) {
        guard let least = entries.first?.key, let greatest = entries.last?.key, old.begins(least), old.begins(greatest) else {
            self.init(entries)
            return
        }
        self.init([])
        shared = old.shared
        beginning = old.beginning
        length = old.length
        heads.reserveCapacity(max(entries.count, OrderedTree.width + 1))
        let hasTails = !old.tails.isEmpty
        for position in entries.indices {
            let oldPosition = before(position)
            if oldPosition >= 0 {
                heads.append(old.heads[oldPosition])
                if hasTails { tails.append(old.tails[oldPosition]) }
            } else {
                let key = entries[position].key
                heads.append(Self.word(key, shared))
                if hasTails { tails.append(Self.word(key, shared + 8)) }
                if key.count != length { length = -1 }
            }
        }
        if !hasUnlikeHeads(), !hasTails { self = KeyHeads(entries) }
    }

    /// Returns whether all heads are distinct. Also determines the stride.
    private mutating func hasUnlikeHeads() -> Bool {
        first = heads[0]
        let step = heads.count > 1 ? heads[1] &- heads[0] : 0
        var isRegular = heads.count > 1 && step.nonzeroBitCount == 1
        var isUnlike = true
        heads.withUnsafeBufferPointer { heads in
            for position in 1..<max(heads.count, 1) {
                let distance = heads[position] &- heads[position &- 1]
                if distance == 0 { isUnlike = false }
                if distance != step { isRegular = false }
            }
        }
        if isRegular { stride = step.trailingZeroBitCount }
        return isUnlike
    }

    /// Returns whether a key has the common prefix.
    private func begins(_ key: UnsafeRawBufferPointer) -> Bool {
        shared <= 16 && key.count >= shared && Self.beginning(key, shared) == beginning
    }

    @inline(__always)
    private static func word(_ key: UnsafeRawBufferPointer, _ start: Int) -> UInt64 {
        if start &+ 8 <= key.count { return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: start, as: UInt64.self)) }
        return shortWord(key, start)
    }

    /// Returns up to eight bytes of a key as a word, padded with zeros.
    @inline(__always)
    private static func shortWord(_ key: UnsafeRawBufferPointer, _ start: Int) -> UInt64 {
        let missing = start &+ 8 &- key.count
        if missing >= 8 { return 0 }
        if key.count >= 8 {
            let last = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: key.count &- 8, as: UInt64.self))
            return last << UInt64(truncatingIfNeeded: 8 &* missing)
        }
        var word: UInt64 = 0
        for position in start..<start &+ 8 { word = word << 8 | (position < key.count ? UInt64(key[position]) : 0) }
        return word
    }

    /// Returns the first bytes of a key, at most sixteen, as two words.
    @inline(__always)
    private static func beginning(_ key: UnsafeRawBufferPointer, _ count: Int) -> (UInt64, UInt64) {
        let first = count == 0 ? 0 : word(key, 0) & mask(count)
        return (first, count > 8 ? word(key, 8) & mask(count - 8) : 0)
    }

    /// Returns a mask of the given number of most significant bytes, at most eight.
    @inline(__always)
    private static func mask(_ count: Int) -> UInt64 { count >= 8 ? .max : ~(.max >> UInt64(truncatingIfNeeded: 8 * count)) }

    /// Compares the first bytes of a key with the common prefix.
    @inline(__always)
    private func orderOfBeginning(_ key: UnsafeRawBufferPointer, _ any: @autoclosure () -> TreeEntry) -> Int {
        if shared <= 16, key.count >= shared {
            let other = Self.beginning(key, shared)
            if other.0 != beginning.0 { return other.0 < beginning.0 ? -1 : 1 }
            return other.1 == beginning.1 ? 0 : (other.1 < beginning.1 ? -1 : 1)
        }
        let count = min(shared, key.count)
        return Order.of(UnsafeRawBufferPointer(rebasing: key[0..<count]), UnsafeRawBufferPointer(rebasing: any().key[0..<count]))
    }

    /// - Returns: `false` if the heads must be rebuilt.
    mutating func insert(_ key: UnsafeRawBufferPointer, at position: Int, _ entries: ContiguousArray<TreeEntry>) -> Bool {
        guard heads.count > 0, key.count >= shared else { return false }
        // An entry other than the new one, which is already in the list.
        guard shared == 0 || orderOfBeginning(key, entries[position == 0 ? 1 : 0]) == 0 else { return false }
        let head = Self.word(key, shared)
        let isLike = position < heads.count && heads[position] == head || position > 0 && heads[position - 1] == head
        if isLike, tails.isEmpty { return false }
        if stride >= 0, position < heads.count || head != first &+ UInt64(heads.count) << UInt64(stride) { stride = -1 }
        if key.count != length { length = -1 }
        heads.insert(head, at: position)
        if !tails.isEmpty { tails.insert(Self.word(key, shared + 8), at: position) }
        first = heads[0]
        return true
    }

    mutating func remove(at position: Int) {
        heads.remove(at: position)
        if !tails.isEmpty { tails.remove(at: position) }
        // Without its first or last key, the sequence is still regular.
        if position > 0, position < heads.count { stride = -1 }
        first = heads.first ?? 0
        if heads.count < 2 { stride = -1 }
    }

    /// Returns the position of the first key that is not less than the given key, and whether they are equal.
    @inline(__always)
    func search(_ key: UnsafeRawBufferPointer, _ entries: ContiguousArray<TreeEntry>) -> (position: Int, isFound: Bool) {
        if heads.isEmpty { return (0, false) }
        if shared > 0 {
            let order = orderOfBeginning(key, entries[0])
            if order != 0 { return (order < 0 ? 0 : entries.count, false) }
            if key.count < shared { return (0, false) }
        }
        let head = Self.word(key, shared)
        var low: Int
        var high: Int
        if stride >= 0 {
            if head < first { return (0, false) }
            let distance = head &- first
            let number = distance >> UInt64(truncatingIfNeeded: stride)
            if number >= UInt64(truncatingIfNeeded: entries.count) { return (entries.count, false) }
            low = Int(truncatingIfNeeded: number)
            if distance != number << UInt64(truncatingIfNeeded: stride) { return (low &+ 1, false) }
            high = low &+ 1
        } else {
            (low, high) = heads.withUnsafeBufferPointer { Self.equal($0, head, 0, $0.count) }
            if high &- low > 1, !tails.isEmpty {
                let tail = Self.word(key, shared &+ 8)
                (low, high) = tails.withUnsafeBufferPointer { Self.equal($0, tail, low, high) }
            }
        }
        if key.count == length, low < high { return (low, true) }
        // Keys with equal words are compared completely.
        while low < high {
            let middle = (low &+ high) >> 1
            let order = Order.of(entries[middle].key, key)
            if order < 0 {
                low = middle &+ 1
            } else if order == 0 {
                return (middle, true)
            } else {
                high = middle
            }
        }
        return (low, false)
    }

    /// Returns the range of a word in a sorted list.
    @inline(__always)
    private static func equal(_ words: UnsafeBufferPointer<UInt64>, _ word: UInt64, _ start: Int, _ end: Int) -> (Int, Int) {
        var low = start
        var count = end &- start
        while count > 0 {
            let half = count >> 1
            if words[low &+ half] < word {
                low = low &+ half &+ 1
                count = count &- half &- 1
            } else {
                count = half
            }
        }
        var high = low
        while high < end, words[high] == word { high &+= 1 }
        return (low, high)
    }
}
