import PolyStoreBackend
import PolyStoreCollections

/// The log of additions to and removals from to-many relationships in a transaction. Appending is the only cost of a bulk load; the index by
/// relationship is built on demand.
///
/// It also records the order of the members of ordered relationships.
package struct RelationshipChanges {
    fileprivate enum Kind: UInt8 {
        case addition
        case removal
        /// An addition at the end of an ordered relationship.
        case appending
        /// A removal from an ordered relationship.
        case leaving
        /// A complete new order. The target is an index into `arrangements`.
        case arrangement
    }

    fileprivate struct Entry {
        let key: RelationshipKey
        let target: Int64
        let kind: Kind
    }

    /// A Boolean value that indicates whether the log contains a relationship stored in a link table. Only those are written from the log.
    var hasLinks = false
    /// A Boolean value that indicates whether the log contains an ordered relationship. Positions are computed from the log.
    private(set) var hasOrders = false
    private var entries: [Entry] = []
    private var arrangements: [[Int64]] = []
    /// The index of the latest arrangement of each relationship.
    private var latest: [RelationshipKey: Int] = [:]
    /// The number of arrangements that must be retained for undo.
    private var kept = 0
    var isEmpty: Bool { entries.isEmpty }
    /// The number of logged additions, removals and arrangements.
    package var changeCount: Int { entries.count }
    /// Returns the relationships changed at or after an index of the log.
    package func changedRelationships(since change: Int) -> Set<RelationshipKey> { Set(entries.dropFirst(change).lazy.map(\.key)) }

    /// A point of the log that it can be truncated to.
    struct Mark {
        fileprivate(set) var changeCount = 0
        fileprivate var arrangementCount = 0
        fileprivate var hasLinks = false
        fileprivate var hasOrders = false
    }

    /// The entries after a mark.
    struct Tail {
        fileprivate var entries: [Entry] = []
        fileprivate var arrangements: [[Int64]] = []
        fileprivate var hasLinks = false
        fileprivate var hasOrders = false
        var changedRelationships: Set<RelationshipKey> { Set(entries.lazy.map(\.key)) }
    }

    /// Marks the end of the log. The arrangements before it are retained.
    mutating func mark() -> Mark {
        kept = arrangements.count
        return Mark(changeCount: entries.count, arrangementCount: arrangements.count, hasLinks: hasLinks, hasOrders: hasOrders)
    }

    /// Truncates the log to a mark and returns the removed entries.
    mutating func cut(to mark: Mark) -> Tail {
        let tail = Tail(
            entries: Array(entries[mark.changeCount...]), arrangements: Array(arrangements[mark.arrangementCount...]), hasLinks: hasLinks,
            hasOrders: hasOrders)
        var changedKeys: Set<RelationshipKey> = []
        while indexed > mark.changeCount {
            indexed -= 1
            revert(indexed, &changedKeys)
        }
        effects.removeSubrange(indexed...)
        entries.removeSubrange(mark.changeCount...)
        arrangements.removeSubrange(mark.arrangementCount...)
        for (key, position) in latest where position >= mark.arrangementCount { latest[key] = nil }
        (hasLinks, hasOrders) = (mark.hasLinks, mark.hasOrders)
        kept = arrangements.count
        if changedKeys.isEmpty { return tail }
        for key in changedKeys { index[key] = nil }
        for position in 0..<indexed where changedKeys.contains(entries[position].key) { _ = apply(entries[position]) }
        return tail
    }

    /// Appends entries that were removed at the same point.
    mutating func append(_ tail: Tail) {
        if tail.entries.isEmpty { return }
        entries += tail.entries
        arrangements += tail.arrangements
        (hasLinks, hasOrders) = (hasLinks || tail.hasLinks, hasOrders || tail.hasOrders)
    }
    private var index: [RelationshipKey: MemberChanges] = [:]
    private var indexed = 0
    /// The effect of each indexed entry on the index.
    private var effects: [Effect] = []

    private struct Effect: OptionSet {
        let rawValue: UInt8
        static let wasAdded = Effect(rawValue: 1)
        static let wasRemoved = Effect(rawValue: 2)
        /// The entry made the target the last one in order.
        static let isLast = Effect(rawValue: 4)
        /// The relationship had no order before the entry.
        static let wasUnordered = Effect(rawValue: 8)
        /// The effect can only be reverted by rebuilding the relationship's index.
        static let isFinal = Effect(rawValue: 16)
    }

    /// Logs the addition of a target.
    /// - Parameter isOrdered: whether the relationship is ordered; the target is then appended.
    mutating func add(_ key: RelationshipKey, _ target: Int64, isOrdered: Bool) {
        if isOrdered { hasOrders = true }
        entries.append(Entry(key: key, target: target, kind: isOrdered ? .appending : .addition))
    }

    mutating func remove(_ key: RelationshipKey, _ target: Int64, isOrdered: Bool) {
        if isOrdered { hasOrders = true }
        entries.append(Entry(key: key, target: target, kind: isOrdered ? .leaving : .removal))
    }

    /// Logs a new order of the members of an ordered relationship. `targets` contains all of its current members.
    mutating func arrange(_ key: RelationshipKey, _ targets: [Int64]) {
        hasOrders = true
        releaseArrangement(key)
        latest[key] = arrangements.count
        entries.append(Entry(key: key, target: Int64(arrangements.count), kind: .arrangement))
        arrangements.append(targets)
    }

    /// Releases the latest arrangement of a relationship before it is replaced.
    mutating func releaseArrangement(_ key: RelationshipKey) { if let last = latest[key], last >= kept { arrangements[last] = [] } }

    private mutating func catchUp() {
        while indexed < entries.count {
            effects.append(apply(entries[indexed]))
            indexed += 1
        }
    }

    private mutating func apply(_ entry: Entry) -> Effect {
        var effect: Effect = []
        switch entry.kind {
        case .addition, .appending:
            if index[entry.key, default: MemberChanges()].removed.remove(entry.target) != nil { effect.insert(.wasRemoved) }
            if index[entry.key]?.added.insert(entry.target).inserted == false { effect.insert(.wasAdded) }
            if entry.kind == .appending {
                if case .unordered = index[entry.key]?.order { effect.insert(.wasUnordered) }
                if index[entry.key]?.order.add(entry.target) ?? false { effect.insert(.isLast) }
            }
            updateOwners(entry, isOwner: true)
        case .removal, .leaving:
            if index[entry.key, default: MemberChanges()].added.remove(entry.target) != nil { effect.insert(.wasAdded) }
            if index[entry.key]?.removed.insert(entry.target).inserted == false { effect.insert(.wasRemoved) }
            if entry.kind == .leaving, index[entry.key]?.order.remove(entry.target) ?? false { effect.insert(.isFinal) }
            updateOwners(entry, isOwner: false)
        case .arrangement:
            index[entry.key, default: MemberChanges()].order = .whole(OrderedRowIDs(arrangements[Int(entry.target)]))
            effect.insert(.isFinal)
        }
        return effect
    }

    /// Reverts the effect of the last indexed entry.
    private mutating func revert(_ position: Int, _ changedKeys: inout Set<RelationshipKey>) {
        let (entry, effect) = (entries[position], effects[position])
        if effect.contains(.isFinal) { changedKeys.insert(entry.key) }
        switch entry.kind {
        case .addition, .appending:
            if !effect.contains(.wasAdded) {
                index[entry.key]?.added.remove(entry.target)
                updateOwners(entry, isOwner: false)
            }
            if effect.contains(.wasRemoved) { index[entry.key]?.removed.insert(entry.target) }
            if effect.contains(.isLast) { _ = index[entry.key]?.order.remove(entry.target) }
            if effect.contains(.wasUnordered) { index[entry.key]?.order = .unordered }
        case .removal, .leaving:
            if effect.contains(.wasAdded) {
                index[entry.key]?.added.insert(entry.target)
                updateOwners(entry, isOwner: true)
            }
            if !effect.contains(.wasRemoved) { index[entry.key]?.removed.remove(entry.target) }
        case .arrangement: break
        }
        if index[entry.key]?.isEmpty ?? false { index[entry.key] = nil }
    }

    // MARK: Inverse index

    private struct Link: Hashable {
        let entityIndex: Int32
        let relationship: Int32
    }

    private struct LinkTarget: Hashable {
        let link: Link
        let target: Int64
    }

    /// The relationships with an inverse index, and the owners of added targets by target.
    private var watched: Set<Link> = []
    private var owners: [LinkTarget: Set<Int64>] = [:]

    private mutating func updateOwners(_ entry: Entry, isOwner: Bool) {
        if watched.isEmpty { return }
        let link = Link(entityIndex: entry.key.entityIndex, relationship: entry.key.relationship)
        guard watched.contains(link) else { return }
        let linkTarget = LinkTarget(link: link, target: entry.target)
        if isOwner { owners[linkTarget, default: []].insert(entry.key.rowID) } else { owners[linkTarget]?.remove(entry.key.rowID) }
    }

    /// Returns the objects to whose relationship a target was added.
    mutating func owners(of target: Int64, entityIndex: Int32, relationship: Int32) -> Set<Int64> {
        if entries.isEmpty { return [] }
        catchUp()
        let link = Link(entityIndex: entityIndex, relationship: relationship)
        if watched.insert(link).inserted {
            for (key, changes) in index where key.entityIndex == entityIndex && key.relationship == relationship {
                for target in changes.added { owners[LinkTarget(link: link, target: target), default: []].insert(key.rowID) }
            }
        }
        return owners[LinkTarget(link: link, target: target)] ?? []
    }

    /// Returns the net changes of one relationship, or nil if there are none.
    mutating func changes(_ key: RelationshipKey) -> MemberChanges? {
        if entries.isEmpty { return nil }
        catchUp()
        return index[key]
    }

    /// The changed relationships.
    var changedRelationships: [RelationshipKey] { Array(Set(entries.lazy.map(\.key))) }
    /// The indexes of the entities with changed relationships.
    var changedEntities: Set<Int> { Set(entries.lazy.map { Int($0.key.entityIndex) }) }

    /// Returns the net changes of all relationships accepted by a predicate.
    mutating func all(where accepts: (RelationshipKey) -> Bool) -> [(key: RelationshipKey, changes: MemberChanges)] {
        catchUp()
        return index.filter { accepts($0.key) }.map { ($0.key, $0.value) }
    }
}
