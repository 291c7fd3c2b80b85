import PolyStoreBackend

/// What a transaction adds to and takes from to-many relationships, in order. Appending is all that a bulk load pays; the index by
/// relationship is made when somebody asks.
///
/// It is also the one place that knows in which order a transaction wants the objects of ordered relationships.
struct MemberLog {
    fileprivate enum Kind: UInt8 {
        case addition
        case removal
        /// An addition to an ordered relationship, at its end.
        case appending
        /// A removal from an ordered relationship.
        case leaving
        /// A new order as a whole; the target is its number among the arrangements.
        case arrangement
    }

    fileprivate struct Entry {
        let key: MemberKey
        let target: Int64
        let kind: Kind
    }

    /// Whether any relationship kept in a link table is among them: only those are written from the log.
    var hasLinks = false
    /// Whether any ordered relationship is among them: their positions are worked out from the log.
    private(set) var hasOrders = false
    private var entries: [Entry] = []
    private var arrangements: [[Int64]] = []
    /// The last order of each relationship, by its number.
    private var latest: [MemberKey: Int] = [:]
    /// So many orders somebody may want to go back to.
    private var kept = 0
    var isEmpty: Bool { entries.isEmpty }
    /// How often anything was added, taken or moved.
    var changeCount: Int { entries.count }
    /// The relationships that were touched from a change on.
    func touched(since change: Int) -> Set<MemberKey> { Set(entries.dropFirst(change).lazy.map(\.key)) }

    /// A point to which the log can go back.
    struct Mark {
        fileprivate(set) var changeCount = 0
        fileprivate var arrangementCount = 0
        fileprivate var hasLinks = false
        fileprivate var hasOrders = false
    }

    /// What was added behind a mark.
    struct Tail {
        fileprivate var entries: [Entry] = []
        fileprivate var arrangements: [[Int64]] = []
        fileprivate var hasLinks = false
        fileprivate var hasOrders = false
        var touched: Set<MemberKey> { Set(entries.lazy.map(\.key)) }
    }

    /// Marks the end of the log; what is before it is kept as it is.
    mutating func mark() -> Mark {
        kept = arrangements.count
        return Mark(changeCount: entries.count, arrangementCount: arrangements.count, hasLinks: hasLinks, hasOrders: hasOrders)
    }

    /// Goes back to a mark.
    mutating func cut(to mark: Mark) -> Tail {
        let tail = Tail(
            entries: Array(entries[mark.changeCount...]), arrangements: Array(arrangements[mark.arrangementCount...]), hasLinks: hasLinks,
            hasOrders: hasOrders)
        var anew: Set<MemberKey> = []
        while indexed > mark.changeCount {
            indexed -= 1
            takeBack(indexed, &anew)
        }
        effects.removeSubrange(indexed...)
        entries.removeSubrange(mark.changeCount...)
        arrangements.removeSubrange(mark.arrangementCount...)
        for (key, place) in latest where place >= mark.arrangementCount { latest[key] = nil }
        (hasLinks, hasOrders) = (mark.hasLinks, mark.hasOrders)
        kept = arrangements.count
        if anew.isEmpty { return tail }
        for key in anew { index[key] = nil }
        for place in 0..<indexed where anew.contains(entries[place].key) { _ = apply(entries[place]) }
        return tail
    }

    /// Adds again what was cut off at the same place.
    mutating func append(_ tail: Tail) {
        if tail.entries.isEmpty { return }
        entries += tail.entries
        arrangements += tail.arrangements
        (hasLinks, hasOrders) = (hasLinks || tail.hasLinks, hasOrders || tail.hasOrders)
    }
    private var index: [MemberKey: MemberChanges] = [:]
    private var indexed = 0
    /// What each entry that is in the index has changed there.
    private var effects: [Effect] = []

    private struct Effect: OptionSet {
        let rawValue: UInt8
        static let wasAdded = Effect(rawValue: 1)
        static let wasRemoved = Effect(rawValue: 2)
        /// The target is the last in order by it.
        static let isLast = Effect(rawValue: 4)
        /// There was no order before.
        static let wasUnordered = Effect(rawValue: 8)
        /// It cannot be taken back without going over everything.
        static let isFinal = Effect(rawValue: 16)
    }

    /// - Parameter isOrdered: the relationship is ordered, and gets the target at its end.
    mutating func add(_ key: MemberKey, _ target: Int64, isOrdered: Bool) {
        if isOrdered { hasOrders = true }
        entries.append(Entry(key: key, target: target, kind: isOrdered ? .appending : .addition))
    }

    mutating func remove(_ key: MemberKey, _ target: Int64, isOrdered: Bool) {
        if isOrdered { hasOrders = true }
        entries.append(Entry(key: key, target: target, kind: isOrdered ? .leaving : .removal))
    }

    /// Brings the objects of an ordered relationship, all of which it leads to by now, into another order.
    mutating func arrange(_ key: MemberKey, _ targets: [Int64]) {
        hasOrders = true
        releaseArrangement(key)
        latest[key] = arrangements.count
        entries.append(Entry(key: key, target: Int64(arrangements.count), kind: .arrangement))
        arrangements.append(targets)
    }

    /// Lets go of the last order of a relationship that is about to get another one.
    mutating func releaseArrangement(_ key: MemberKey) { if let last = latest[key], last >= kept { arrangements[last] = [] } }

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
            note(entry, isOwner: true)
        case .removal, .leaving:
            if index[entry.key, default: MemberChanges()].added.remove(entry.target) != nil { effect.insert(.wasAdded) }
            if index[entry.key]?.removed.insert(entry.target).inserted == false { effect.insert(.wasRemoved) }
            if entry.kind == .leaving, index[entry.key]?.order.remove(entry.target) ?? false { effect.insert(.isFinal) }
            note(entry, isOwner: false)
        case .arrangement:
            index[entry.key, default: MemberChanges()].order = .whole(OrderedKeys(arrangements[Int(entry.target)]))
            effect.insert(.isFinal)
        }
        return effect
    }

    /// Takes the effect of an entry back, the last one of the index.
    private mutating func takeBack(_ place: Int, _ anew: inout Set<MemberKey>) {
        let (entry, effect) = (entries[place], effects[place])
        if effect.contains(.isFinal) { anew.insert(entry.key) }
        switch entry.kind {
        case .addition, .appending:
            if !effect.contains(.wasAdded) {
                index[entry.key]?.added.remove(entry.target)
                note(entry, isOwner: false)
            }
            if effect.contains(.wasRemoved) { index[entry.key]?.removed.insert(entry.target) }
            if effect.contains(.isLast) { _ = index[entry.key]?.order.remove(entry.target) }
            if effect.contains(.wasUnordered) { index[entry.key]?.order = .unordered }
        case .removal, .leaving:
            if effect.contains(.wasAdded) {
                index[entry.key]?.added.insert(entry.target)
                note(entry, isOwner: true)
            }
            if !effect.contains(.wasRemoved) { index[entry.key]?.removed.remove(entry.target) }
        case .arrangement: break
        }
        if index[entry.key]?.isEmpty ?? false { index[entry.key] = nil }
    }

    // MARK: The other way round

    private struct Link: Hashable {
        let slot: Int32
        let relationship: Int32
    }

    private struct LinkTarget: Hashable {
        let link: Link
        let target: Int64
    }

    /// The relationships whose owners somebody has asked for, by their targets, and these owners.
    private var watched: Set<Link> = []
    private var owners: [LinkTarget: Set<Int64>] = [:]

    private mutating func note(_ entry: Entry, isOwner: Bool) {
        if watched.isEmpty { return }
        let link = Link(slot: entry.key.slot, relationship: entry.key.relationship)
        guard watched.contains(link) else { return }
        let place = LinkTarget(link: link, target: entry.target)
        if isOwner { owners[place, default: []].insert(entry.key.key) } else { owners[place]?.remove(entry.key.key) }
    }

    /// The objects whose relationship a target was added to.
    mutating func owners(of target: Int64, slot: Int32, relationship: Int32) -> Set<Int64> {
        if entries.isEmpty { return [] }
        catchUp()
        let link = Link(slot: slot, relationship: relationship)
        if watched.insert(link).inserted {
            for (key, changes) in index where key.slot == slot && key.relationship == relationship {
                for target in changes.added { owners[LinkTarget(link: link, target: target), default: []].insert(key.key) }
            }
        }
        return owners[LinkTarget(link: link, target: target)] ?? []
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

/// What a transaction adds to and takes from a to-many relationship.
@usableFromInline
struct MemberChanges {
    @usableFromInline var added: Set<Int64> = []
    @usableFromInline var removed: Set<Int64> = []
    var order = MemberOrder.unordered

    /// What the relationship leads to, given what the store says.
    @usableFromInline
    func applied(to stored: [Int64]) -> [Int64] {
        switch order {
        case .unordered: stored.filter { !removed.contains($0) && !added.contains($0) } + added
        case .appended(let keys): stored.filter { !removed.contains($0) && !keys.contains($0) } + keys.keys
        case .whole(let keys): keys.keys
        }
    }
}

/// In which order a transaction wants the objects of a relationship.
enum MemberOrder {
    /// In none, or as the store has it.
    case unordered
    /// These come behind all others.
    case appended(OrderedKeys)
    /// These, and no others.
    case whole(OrderedKeys)

    /// Whether it is that of the store.
    var isEmpty: Bool {
        switch self {
        case .unordered: true
        case .appended(let keys): keys.count == 0
        case .whole: false
        }
    }

    /// Brings keys into this order; those that it does not know stay before what is appended, and come behind what is arranged.
    func applied(to keys: [Int64]) -> [Int64] {
        switch self {
        case .unordered: return keys
        case .appended(let last):
            let known = Set(keys)
            return keys.filter { !last.contains($0) } + last.keys.filter(known.contains)
        case .whole(let wanted):
            let known = Set(keys)
            return wanted.keys.filter(known.contains) + keys.filter { !wanted.contains($0) }
        }
    }

    /// - Returns: whether the key was not there yet, and is the last now.
    mutating func add(_ key: Int64) -> Bool {
        switch self {
        case .unordered:
            self = .appended(OrderedKeys([key]))
            return true
        case .appended(var keys):
            self = .unordered  // so that the keys are not copied
            defer { self = .appended(keys) }
            return keys.append(key)
        case .whole(var keys):
            self = .unordered
            defer { self = .whole(keys) }
            return keys.append(key)
        }
    }

    /// - Returns: whether the key was there.
    mutating func remove(_ key: Int64) -> Bool {
        switch self {
        case .unordered: return false
        case .appended(var keys):
            self = .unordered
            defer { self = .appended(keys) }
            return keys.remove(key)
        case .whole(var keys):
            self = .unordered
            defer { self = .whole(keys) }
            return keys.remove(key)
        }
    }
}
