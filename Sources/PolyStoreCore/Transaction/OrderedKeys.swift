/// An ordered set of row ids. Appending, removing and lookup take amortized constant time.
struct OrderedKeys {
    /// The row ids in order, including removed ones.
    private var slots: [Int64] = []
    /// The index of each row id in `slots`. Slots that are not referenced are empty.
    private var places: [Int64: Int] = [:]

    init() {}

    init(_ keys: some Sequence<Int64>) { for key in keys { append(key) } }

    var count: Int { places.count }

    /// The row ids in order.
    var keys: [Int64] {
        if slots.count == places.count { return slots }
        return slots.indices.lazy.filter { places[slots[$0]] == $0 }.map { slots[$0] }
    }

    func contains(_ key: Int64) -> Bool { places[key] != nil }

    /// Appends a row id. If it is already contained, it keeps its position.
    /// - Returns: whether the row id was added.
    @discardableResult
    mutating func append(_ key: Int64) -> Bool {
        guard places[key] == nil else { return false }
        places[key] = slots.count
        slots.append(key)
        return true
    }

    /// Removes a row id.
    /// - Returns: whether it was contained.
    @discardableResult
    mutating func remove(_ key: Int64) -> Bool {
        guard let place = places.removeValue(forKey: key) else { return false }
        if place == slots.count - 1 {
            slots.removeLast()
            return true
        }
        guard slots.count > 64, slots.count > 2 * places.count else { return true }
        let kept = slots.indices.filter { places[slots[$0]] == $0 }.map { slots[$0] }
        slots = kept
        for (place, key) in kept.enumerated() { places[key] = place }
        return true
    }
}
