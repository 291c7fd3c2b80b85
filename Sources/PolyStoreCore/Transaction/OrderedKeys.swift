/// Keys in an order, each once. Appending, removing and looking up take constant time, on average.
struct OrderedKeys {
    /// In order, with keys among them that are gone.
    private var slots: [Int64] = []
    /// Where each key is; a slot that its key does not name is empty.
    private var places: [Int64: Int] = [:]

    init() {}

    init(_ keys: some Sequence<Int64>) { for key in keys { append(key) } }

    var count: Int { places.count }

    /// The keys, in order.
    var keys: [Int64] {
        if slots.count == places.count { return slots }
        return slots.indices.lazy.filter { places[slots[$0]] == $0 }.map { slots[$0] }
    }

    func contains(_ key: Int64) -> Bool { places[key] != nil }

    /// Puts a key at the end; one that is there stays where it is.
    /// - Returns: whether it was not there.
    @discardableResult
    mutating func append(_ key: Int64) -> Bool {
        guard places[key] == nil else { return false }
        places[key] = slots.count
        slots.append(key)
        return true
    }

    /// - Returns: whether it was there.
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
