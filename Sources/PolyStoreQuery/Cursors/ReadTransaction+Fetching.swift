import PolyStoreBackend

extension ReadTransaction {
    /// Executes a request. Applies the residual parts that the backend leaves.
    public func fetch(_ request: FetchRequest) throws -> RecordCursor { try fetch(request, self) }

    /// Executes a request.
    /// - Parameter related: Looks up the related objects that the residual parts refer to.
    func fetch(_ request: FetchRequest, _ related: any RelatedRecords) throws -> RecordCursor {
        try request.validate()
        if request.limit == 0 { return RecordCursor(layout: request.entity.layout) }
        let request = try searched(request).request
        if request.hasComputedKeys, !receivesOrder(of: request) {
            let scan = try scan(request.unsorted)
            return try MaterializedCursor.sorted(scan.cursor, request, predicate: scan.residual.predicate, related)
        }
        return try completed(try scan(request), request, related)
    }

    /// Returns the rows of a scan after the residual parts of its request, which sorts by fields.
    func completed(_ scan: Scan, _ request: FetchRequest, _ related: any RelatedRecords) throws -> RecordCursor {
        let rest = scan.residual
        if rest.isNothing { return scan.cursor }
        if rest.sort {
            return try MaterializedCursor.sorted(scan.cursor, request, predicate: rest.predicate, related)
        }
        return FilterCursor(
            scan.cursor, layout: request.entity.layout, predicate: rest.predicate, related, offset: rest.slice ? request.offset : 0,
            limit: rest.slice ? request.limit : nil)
    }

    /// Returns whether `scan` receives the computed sort keys of a request.
    func receivesOrder(of request: FetchRequest) -> Bool {
        ((self as? any OrdersByIndexedJSON)?.ordersByIndexedJSON ?? false) && request.orderedByIndexedJSON != nil
    }

    /// Returns the number of rows by reading them. A backend can override this with a faster implementation.
    public func count(_ request: FetchRequest) throws -> Int {
        // Before the sort keys are removed, because a fetch of the same request rejects invalid ones.
        try request.validate()
        var request = request
        request.sortKeys = []
        request.onlyIDs = true
        let cursor = try fetch(request)
        defer { cursor.close() }
        var count = 0
        while try cursor.next() { count += 1 }
        return count
    }
}
