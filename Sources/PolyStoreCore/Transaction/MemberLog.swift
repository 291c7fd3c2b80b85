import PolyStoreBackend

/// What a transaction adds to and takes from to-many relationships, in order. Appending is all that a bulk load pays; the index by
/// relationship is made when somebody asks.
struct MemberLog {
    private struct Entry {
        let key: MemberKey
        let target: Int64
        let isAddition: Bool
    }

    /// Whether any relationship kept in a link table is among them: only those are written from the log.
    var hasLinks = false
    private var entries: [Entry] = []
    var isEmpty: Bool { entries.isEmpty }
    /// How often anything was added, taken or moved.
    var changeCount: Int { entries.count }
    /// The relationships that were touched from a change on.
    func touched(since change: Int) -> Set<MemberKey> { Set(entries.dropFirst(change).lazy.map(\.key)) }
    private var index: [MemberKey: MemberChanges] = [:]
    private var indexed = 0

    mutating func add(_ key: MemberKey, _ target: Int64) { entries.append(Entry(key: key, target: target, isAddition: true)) }
    mutating func remove(_ key: MemberKey, _ target: Int64) { entries.append(Entry(key: key, target: target, isAddition: false)) }

    private mutating func catchUp() {
        while indexed < entries.count {
            let entry = entries[indexed]
            indexed += 1
            if entry.isAddition {
                index[entry.key, default: MemberChanges()].removed.remove(entry.target)
                index[entry.key, default: MemberChanges()].added.insert(entry.target)
            } else {
                index[entry.key, default: MemberChanges()].added.remove(entry.target)
                index[entry.key, default: MemberChanges()].removed.insert(entry.target)
            }
        }
    }

    /// The net changes of one relationship.
    mutating func changes(_ key: MemberKey) -> MemberChanges? {
        if entries.isEmpty { return nil }
        catchUp()
        return index[key]
    }

    /// The relationships that were touched.
    var touched: [MemberKey] { Array(Set(entries.lazy.map(\.key))) }

    /// The net changes of all relationships that a test accepts.
    mutating func all(where accepts: (MemberKey) -> Bool) -> [(key: MemberKey, changes: MemberChanges)] {
        catchUp()
        return index.filter { accepts($0.key) }.map { ($0.key, $0.value) }
    }
}
