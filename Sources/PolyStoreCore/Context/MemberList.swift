/// The ordered row ids of the members of a to-many relationship, without duplicates. Appending, removing and lookup take amortized constant time.
struct MemberList {
    /// The row ids in order, including removed ones.
    private var slots: [Int64]
    /// The index of each row id in `slots`; nil until it is needed. Slots that are not referenced are empty.
    private var places: [Int64: Int]?
    /// The number of empty slots.
    private var gaps = 0

    /// The maximum length of a list that is searched without an index.
    private static let short = 16

    init(_ keys: [Int64]) { slots = keys }

    var count: Int { slots.count - gaps }

    /// The row ids in order.
    var keys: [Int64] {
        mutating get {
            close()
            return slots
        }
    }

    /// The row id at a position.
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

    /// Appends a row id.
    /// - Returns: false if the list already contains it.
    mutating func append(_ key: Int64) -> Bool {
        if contains(key) { return false }
        places?[key] = slots.count
        slots.append(key)
        return true
    }

    /// Removes a row id.
    /// - Returns: false if the list does not contain it.
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

    /// Inserts row ids that the list does not contain at a position.
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

    /// Removes the empty slots.
    private mutating func close() {
        guard gaps > 0, let known = places else { return }
        slots = slots.indices.filter { known[slots[$0]] == $0 }.map { slots[$0] }
        gaps = 0
        places = nil
    }
}
