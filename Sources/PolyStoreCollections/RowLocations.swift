/// The block of each row of an ordered list, in a hash table without row ids.
///
/// An entry is a block number and 32 bits of the hash of the row id, 8 bytes; the block determines whether it contains the row. The load factor is at most 0.8.
/// The owner, which has the row ids, rebuilds the table.
struct RowLocations: Sendable {
    private static let empty: UInt64 = 0
    private static let removed: UInt64 = .max

    private var entries: [UInt64]
    /// The number of entries that are not empty, including removed ones.
    private var used = 0

    init(capacity: Int = 0) { entries = Array(repeating: Self.empty, count: max(16, capacity + capacity / 4 + 1)) }

    /// A Boolean value that indicates whether the table must be rebuilt before a row is added.
    var isFull: Bool { used * 5 >= entries.count * 4 }

    static func hash(_ rowID: Int64) -> UInt64 {
        // The finalizer of MurmurHash3, because row ids are consecutive numbers.
        var hash = UInt64(bitPattern: rowID)
        hash = (hash ^ (hash >> 33)) &* 0xff51_afd7_ed55_8ccd
        hash = (hash ^ (hash >> 33)) &* 0xc4ce_b9fe_1a85_ec53
        return hash ^ (hash >> 33)
    }

    private static func entry(_ hash: UInt64, _ block: Int) -> UInt64 { UInt64(block + 1) << 32 | hash & 0xffff_ffff }

    private func start(_ hash: UInt64) -> Int { Int(hash.multipliedFullWidth(by: UInt64(entries.count)).high) }

    mutating func insert(_ rowID: Int64, block: Int) {
        let hash = Self.hash(rowID)
        var index = start(hash)
        while entries[index] != Self.empty, entries[index] != Self.removed { index = index + 1 == entries.count ? 0 : index + 1 }
        if entries[index] == Self.empty { used += 1 }
        entries[index] = Self.entry(hash, block)
    }

    /// Returns the first block that may contain a row and that a test accepts.
    func block(of rowID: Int64, where holds: (Int) -> Bool) -> Int? {
        let hash = Self.hash(rowID)
        var index = start(hash)
        while entries[index] != Self.empty {
            let entry = entries[index]
            if entry != Self.removed, entry & 0xffff_ffff == hash & 0xffff_ffff {
                let block = Int(entry >> 32) - 1
                if holds(block) { return block }
            }
            index = index + 1 == entries.count ? 0 : index + 1
        }
        return nil
    }

    mutating func remove(_ rowID: Int64, block: Int) { replace(rowID, block, Self.removed) }

    mutating func move(_ rowID: Int64, from old: Int, to new: Int) { replace(rowID, old, Self.entry(Self.hash(rowID), new)) }

    private mutating func replace(_ rowID: Int64, _ block: Int, _ new: UInt64) {
        let hash = Self.hash(rowID)
        let wanted = Self.entry(hash, block)
        var index = start(hash)
        while entries[index] != Self.empty {
            if entries[index] == wanted {
                entries[index] = new
                return
            }
            index = index + 1 == entries.count ? 0 : index + 1
        }
    }
}
