import PolyStoreCore

/// An object with its exact values, for exports.
package struct ExactRow: Sendable {
    package let object: ObjectReference
    /// The values, one for each column; nil for null. That of a to-one relationship is the id of the related object.
    package let values: [QueryValue?]
}

/// All rows of a request in batches, from its position on. Each batch is read from a snapshot of its own when it is asked for, so that a slow reader holds neither memory nor a snapshot:
/// rows that others insert before the place that was reached are not seen.
package struct ExactRows: AsyncSequence, Sendable {
    package typealias Element = [ExactRow]
    /// The columns of the values.
    package let columns: [RowColumn]
    let store: BrowserStore
    let request: RowsRequest

    package struct Iterator: AsyncIteratorProtocol {
        let store: BrowserStore
        var request: RowsRequest?
        /// The number of rows of the next batch. It grows while their values are small.
        private var size = 4

        init(store: BrowserStore, request: RowsRequest) { (self.store, self.request) = (store, request) }

        /// The number of bytes of a batch, approximately.
        private static let mostBytes = 4 << 20

        /// Returns the next batch, which is never empty; nil at the end.
        package mutating func next() async throws -> [ExactRow]? {
            guard var request else { return nil }
            try Task.checkCancellation()
            let whole = request.size
            request.size = Swift.max(1, Swift.min(size, whole))
            let batch = try await store.exactBatch(request)
            request.size = whole
            let bytes = batch.rows.reduce(1) { $0 + $1.values.reduce(0) { $0 + ($1.map(ColumnPlan.size) ?? 0) } }
            size = Swift.max(
                1, Swift.min(size * 4, Self.mostBytes / (bytes / Swift.max(batch.rows.count, 1) + 1), RowsRequest.greatestSize))
            request.position = batch.next.map { .after($0) } ?? .first
            self.request = batch.next == nil ? nil : request
            return batch.rows.isEmpty ? nil : batch.rows
        }
    }

    package func makeAsyncIterator() -> Iterator { Iterator(store: store, request: request) }
}

extension BrowserStore {
    /// Returns all rows of a request with exact values, in batches of at most ``RowsRequest/size``; the batches of large values are smaller.
    /// - Throws: ``FilterMistake`` and the errors of ``rows(_:timeLimit:)`` for columns that the entity does not have.
    package func exactRows(_ request: RowsRequest) throws -> ExactRows {
        ExactRows(columns: try columns(of: request), store: self, request: request)
    }
}
