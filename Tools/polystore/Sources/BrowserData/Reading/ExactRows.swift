import PolyStoreCore

/// An object with its exact values, for exports.
package struct ExactRow: Sendable {
    package let object: ObjectReference
    /// The values, one for each column; nil for null. That of a to-one relationship is the id of the related object.
    package let values: [QueryValue?]
}

/// All rows of a request in batches, from its position on. Each batch is read from a snapshot of its own when it is requested, so that a slow reader holds neither memory nor a
/// snapshot. Rows that others insert before the current position are not seen. The rows of a search without an order are those that were found at the beginning.
package struct ExactRows: AsyncSequence, Sendable {
    package typealias Element = [ExactRow]
    /// The columns of the values.
    package let columns: [RowColumn]
    let store: BrowserStore
    let request: RowsRequest

    package struct Iterator: AsyncIteratorProtocol, Sendable {
        let store: BrowserStore
        var request: RowsRequest?
        /// The last row that was read; nil before the first. It has the value of the order, whatever becomes of the row.
        private var last: RowKey?
        /// The rows of a search in the order of their scores that were not read yet, the next one last; nil if there is another order, or before the first row.
        private var ranked: [AnyObjectID]?
        /// The number of rows of the next batch. It grows while their values are small.
        private var size = 4

        init(store: BrowserStore, request: RowsRequest) { (self.store, self.request) = (store, request) }

        /// The number of bytes of a batch, approximately.
        private static let mostBytes = 4 << 20

        /// Returns the next batch, which is never empty; nil at the end.
        package mutating func next() async throws -> [ExactRow]? {
            while let request {
                try Task.checkCancellation()
                let rows = try await batch(request)
                guard !rows.isEmpty else { continue }
                let bytes = rows.reduce(1) { $0 + $1.values.reduce(0) { $0 + ($1.map(ColumnPlan.size) ?? 0) } }
                size = Swift.max(1, Swift.min(size * 4, Self.mostBytes / (bytes / rows.count + 1), RowsRequest.greatestSize))
                return rows
            }
            return nil
        }

        /// Reads the next batch, which is empty if all its rows were deleted, and forgets the request at the end.
        private mutating func batch(_ whole: RowsRequest) async throws -> [ExactRow] {
            var request = whole
            request.size = Swift.max(1, Swift.min(size, whole.size))
            let reader = try RowReader(request, store)
            if reader.isByScore {
                var ids: [AnyObjectID]
                if let ranked { ids = ranked } else { ids = try await store.rankedIDs(reader).reversed() }
                let (rows, count) = try await store.exactRows(Array(ids.suffix(request.size).reversed()), reader)
                ids.removeLast(count)
                ranked = ids
                if ids.isEmpty { self.request = nil }
                return rows
            }
            let batch = try await store.exactBatch(reader, after: last)
            last = batch.last
            if batch.last == nil { self.request = nil }
            return batch.rows
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

    /// Reads the next batch of an export.
    /// - Returns: The rows, and the last one that was read; nil at the end.
    fileprivate func exactBatch(_ reader: RowReader, after key: RowKey?) async throws -> (rows: [ExactRow], last: RowKey?) {
        try await mistakes(reader.request.filter, of: reader.request.entity) {
            try await reading { context in
                let found = try reader.find(context, after: key)
                let (rows, count) = try reader.columns.exact(found.ids, in: context)
                return (rows, count < found.keys.count || found.next != nil ? found.keys.prefix(count).last : nil)
            }
        }
    }

    /// Reads the rows of a search in the order of their scores, without their values.
    fileprivate func rankedIDs(_ reader: RowReader) async throws -> [AnyObjectID] {
        try await mistakes(reader.request.filter, of: reader.request.entity) { try await reading { try reader.rankedIDs($0) } }
    }

    fileprivate func exactRows(_ ids: [AnyObjectID], _ reader: RowReader) async throws -> (rows: [ExactRow], count: Int) {
        try await reading { try reader.columns.exact(ids, in: $0) }
    }
}
