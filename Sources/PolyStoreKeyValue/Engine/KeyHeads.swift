import PolyStoreBackend

/// What makes searching the keys of a node fast: what they have in common, and of each the eight bytes behind that. Nearly every search is decided without
/// a look at the keys themselves, which lie all over memory.
struct KeyHeads {
    /// So many bytes at the beginning are the same in all keys.
    private var shared = 0
    /// The first sixteen of those, zeros behind them.
    private var beginning: (UInt64, UInt64) = (0, 0)
    /// The next eight bytes of each key, zeros behind its end.
    private var heads: ContiguousArray<UInt64> = []
    /// The eight bytes behind those, only where some heads are the same.
    private var tails: ContiguousArray<UInt64> = []
    private var first: UInt64 = 0
    /// Each head is the one before and 1 << stride: the keys end in numbers without gaps. −1: not so.
    private var stride = -1
    /// The length of all keys, if it is one and the heads reach to their ends: then alike heads are alike keys. −1: not so.
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

    /// Of entries that in part were there before.
    /// - Parameter before: for each entry its position among those that another index is of; negative where it is not among them.
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
            let place = before(position)
            if place >= 0 {
                heads.append(old.heads[place])
                if hasTails { tails.append(old.tails[place]) }
            } else {
                let key = entries[position].key
                heads.append(Self.word(key, shared))
                if hasTails { tails.append(Self.word(key, shared + 8)) }
                if key.count != length { length = -1 }
            }
        }
        if !hasUnlikeHeads(), !hasTails { self = KeyHeads(entries) }
    }

    /// Whether no two heads are the same. Finds out whether there are gaps between them, too.
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

    /// Whether a key begins like all keys here.
    private func begins(_ key: UnsafeRawBufferPointer) -> Bool {
        shared <= 16 && key.count >= shared && Self.beginning(key, shared) == beginning
    }

    @inline(__always)
    private static func word(_ key: UnsafeRawBufferPointer, _ start: Int) -> UInt64 {
        if start &+ 8 <= key.count { return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: start, as: UInt64.self)) }
        return shortWord(key, start)
    }

    /// With zeros for what is missing at the end.
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

    /// The first bytes of a key, sixteen at most, as two numbers.
    @inline(__always)
    private static func beginning(_ key: UnsafeRawBufferPointer, _ count: Int) -> (UInt64, UInt64) {
        let first = count == 0 ? 0 : word(key, 0) & mask(count)
        return (first, count > 8 ? word(key, 8) & mask(count - 8) : 0)
    }

    /// So many bytes from the top, eight at most.
    @inline(__always)
    private static func mask(_ count: Int) -> UInt64 { count >= 8 ? .max : ~(.max >> UInt64(truncatingIfNeeded: 8 * count)) }

    /// How a key's first bytes stand to those that all keys here share.
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

    /// - Returns: false where everything must be worked out anew.
    mutating func insert(_ key: UnsafeRawBufferPointer, at position: Int, _ entries: ContiguousArray<TreeEntry>) -> Bool {
        guard heads.count > 0, key.count >= shared else { return false }
        // An entry that was there before; the new one is among them already.
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
        // Without one at an end the rest is still regular.
        if position > 0, position < heads.count { stride = -1 }
        first = heads.first ?? 0
        if heads.count < 2 { stride = -1 }
    }

    /// The position of the first key that is not below another, and whether it is that key.
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
        // Those whose bytes are the same so far are told apart by the whole.
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

    /// The positions of a word among sorted ones.
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
