import PolyStoreBackend

// A list that is fetched again and again is nearly all alive. A context shows one version of the store, so a living object is up to date and its row
// need not be read: its id says enough, and an index alone often gives the ids in their order.

extension Context {
    /// Fetches ids first and rows only of what is not alive.
    /// - Returns: false, with nothing done, where that does not seem worth it or turns out not to be.
    @inlinable
    final func collectLiving<T: Model>(_ type: T.Type, _ part: ResolvedFetch.Part, into found: inout [T]) throws -> Bool {
        let map = maps[Int(part.slot)]
        // A map of several classes is never warm: an id does not say which one it is of.
        guard map.isWarm, part.mayBeLong else { return false }
        let start = found.count
        var missing: [Int64] = []
        let cursor = try openIDs(part)
        defer { cursor.close() }
        while try cursor.next() {
            let object = object(type, part.slot, cursor.id)
            found.append(object)
            guard object._$state.isFault else { continue }
            missing.append(cursor.id)
            let rows = found.count &- start
            if !IdentityMap.isMost(rows &- missing.count, of: rows) {
                found.removeSubrange(start...)
                map.setWarm(false)
                return false
            }
        }
        if missing.isEmpty { return true }
        // These are here as faults, so collecting fills them.
        var filled: [T] = []
        let rows = try rows(part.slot, of: missing)
        defer { rows.close() }
        try collect(type, part.entry, part.slot, rows, into: &filled)
        map.setWarm((found.count &- start) >= IdentityMap.telling)
        return true
    }

    @usableFromInline
    final func openIDs(_ part: ResolvedFetch.Part) throws -> RecordCursor {
        var request = part.request
        request.onlyIDs = true
        return try rows(part.entry, request, part.options)
    }
}

extension ResolvedFetch.Part {
    /// Whether its limit, if there is one, leaves room for more than a few rows.
    @usableFromInline
    var mayBeLong: Bool { (request.limit ?? .max) >= IdentityMap.telling }
}
