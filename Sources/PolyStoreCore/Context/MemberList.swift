/// The ids that a to-many relationship of one object leads to, in order, each once. Appending, removing and looking up take constant time on average.
struct MemberList {
    /// In order, with ids among them that are gone.
    private var slots: [Int64]
    /// Where each id is; a slot that its id does not name is empty. nil until somebody needs it.
    private var places: [Int64: Int]?
    /// So many slots are empty.
    private var gaps = 0

    /// A list up to this length is searched without an index.
    private static let short = 16

    init(_ keys: [Int64]) { slots = keys }

    var count: Int { slots.count - gaps }

    /// The ids in order.
    var keys: [Int64] {
        mutating get {
            close()
            return slots
        }
    }

    /// The id at a position.
    subscript(_ position: Int) -> Int64 {
        mutating get {
            close()
            return slots[position]
        }
    }

    mutating func contains(_ key: Int64) -> Bool {
        if places == nil, slots.count <= Self.short { return slots.contains(key) }
        return index()[key] != nil
    }

    /// Adds an id at the end.
    /// - Returns: false where the list has it already.
    mutating func append(_ key: Int64) -> Bool {
        if contains(key) { return false }
        places?[key] = slots.count
        slots.append(key)
        return true
    }

    /// - Returns: false where the list does not have the id.
    mutating func remove(_ key: Int64) -> Bool {
        guard places != nil || slots.count > Self.short else {
            guard let place = slots.lastIndex(of: key) else { return false }
            slots.remove(at: place)
            return true
        }
        if places == nil, slots.last == key {
            slots.removeLast()
            return true
        }
        _ = index()
        guard let place = places?.removeValue(forKey: key) else { return false }
        if place == slots.count - 1 {
            slots.removeLast()
        } else {
            gaps += 1
            if gaps > 64, gaps > slots.count / 2 { close() }
        }
        return true
    }

    /// Adds ids, none of which is in the list, at a position.
    mutating func insert(_ keys: [Int64], at position: Int) {
        close()
        if position == slots.count, places != nil {
            for (offset, key) in keys.enumerated() { places?[key] = position + offset }
        } else {
            places = nil
        }
        slots.insert(contentsOf: keys, at: position)
    }

    mutating func removeSubrange(_ range: Range<Int>) {
        close()
        if range.upperBound == slots.count, places != nil {
            for key in slots[range] { places?[key] = nil }
        } else {
            places = nil
        }
        slots.removeSubrange(range)
    }

    private mutating func index() -> [Int64: Int] {
        if let places { return places }
        let found = Dictionary(slots.enumerated().lazy.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        places = found
        return found
    }

    /// Takes the empty slots out.
    private mutating func close() {
        guard gaps > 0, let known = places else { return }
        slots = slots.indices.filter { known[slots[$0]] == $0 }.map { slots[$0] }
        gaps = 0
        places = nil
    }
}
