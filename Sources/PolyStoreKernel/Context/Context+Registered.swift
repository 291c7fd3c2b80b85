import PolyStoreBackend

// When a list is fetched repeatedly, nearly all of its objects are registered already. A context shows one version of the store, so registered
// objects are current and their rows need not be read: the row id suffices, and a covering index often yields the row ids in order.

extension Context {
    /// Fetches row ids first, and then the rows of unregistered objects only.
    /// - Returns: false, without appending objects, if this is unlikely to be faster.
    @inlinable
    final func collectRegistered<T: Model>(_ type: T.Type, _ part: ResolvedFetch.Part, into found: inout [T]) throws -> Bool {
        let map = identityMap(part.entityIndex)
        // The map of a class hierarchy is never warm, because a row id does not determine the class.
        guard map.isWarm, part.mayBeLong else { return false }
        let start = found.count
        var missing: [Int64] = []
        let cursor = try openIDs(part)
        defer { cursor.close() }
        while try cursor.next() {
            let object = object(type, part.entityIndex, cursor.rowID)
            found.append(object)
            guard object._$state.isFault else { continue }
            missing.append(cursor.rowID)
            let rows = found.count &- start
            if !IdentityMap.isMost(rows &- missing.count, of: rows) {
                found.removeSubrange(start...)
                map.setWarm(false)
                return false
            }
        }
        if missing.isEmpty { return true }
        // These objects are registered as faults, so collecting them loads their values.
        var filled: [T] = []
        let rows = try rows(part.entityIndex, of: missing)
        defer { rows.close() }
        try collect(type, part.entry, part.entityIndex, rows, into: &filled)
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
    /// A Boolean value that indicates whether the limit, if any, allows more than a few rows.
    @usableFromInline
    var mayBeLong: Bool { (request.limit ?? .max) >= IdentityMap.telling }
}
