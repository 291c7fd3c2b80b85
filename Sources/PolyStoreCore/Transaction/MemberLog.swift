import PolyStoreBackend

/// What a transaction adds to and takes from to-many relationships, in order. Appending is all that a bulk load pays; the index by
/// relationship is made when somebody asks.
///
/// It is also the one place that knows in which order a transaction wants the objects of ordered relationships.
struct MemberLog {
    private enum Kind: UInt8 {
        case addition
        case removal
        /// An addition to an ordered relationship, at its end.
        case appending
        /// A removal from an ordered relationship.
        case leaving
        /// A new order as a whole; the target is its number among the arrangements.
        case arrangement
    }

    private struct Entry {
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
    var isEmpty: Bool { entries.isEmpty }
    /// How often anything was added, taken or moved.
    var changeCount: Int { entries.count }
    /// The relationships that were touched from a change on.
    func touched(since change: Int) -> Set<MemberKey> { Set(entries.dropFirst(change).lazy.map(\.key)) }
    private var index: [MemberKey: MemberChanges] = [:]
    private var indexed = 0

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
        entries.append(Entry(key: key, target: Int64(arrangements.count), kind: .arrangement))
        arrangements.append(targets)
    }

    private mutating func catchUp() {
        while indexed < entries.count {
            let entry = entries[indexed]
            indexed += 1
            switch entry.kind {
            case .addition, .appending:
                index[entry.key, default: MemberChanges()].removed.remove(entry.target)
                index[entry.key, default: MemberChanges()].added.insert(entry.target)
                if entry.kind == .appending { index[entry.key]?.order.add(entry.target) }
            case .removal, .leaving:
                index[entry.key, default: MemberChanges()].added.remove(entry.target)
                index[entry.key, default: MemberChanges()].removed.insert(entry.target)
                if entry.kind == .leaving { index[entry.key]?.order.remove(entry.target) }
            case .arrangement: index[entry.key, default: MemberChanges()].order = .whole(OrderedKeys(arrangements[Int(entry.target)]))
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

    mutating func add(_ key: Int64) {
        switch self {
        case .unordered: self = .appended(OrderedKeys([key]))
        case .appended(var keys):
            self = .unordered  // so that the keys are not copied
            keys.append(key)
            self = .appended(keys)
        case .whole(var keys):
            self = .unordered
            keys.append(key)
            self = .whole(keys)
        }
    }

    mutating func remove(_ key: Int64) {
        switch self {
        case .unordered: break
        case .appended(var keys):
            self = .unordered
            keys.remove(key)
            self = .appended(keys)
        case .whole(var keys):
            self = .unordered
            keys.remove(key)
            self = .whole(keys)
        }
    }
}
