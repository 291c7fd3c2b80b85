import PolyStoreBackend

/// A cursor over the rows of several requests, one after another.
package final class SequentialCursor: RecordCursor {
    private let storage: any ReadTransaction
    /// The requests that have not started.
    private var requests: ArraySlice<FetchRequest>
    private var current: RecordCursor?
    /// The number of remaining rows; nil if unlimited.
    private var left: Int?

    /// - Parameters:
    ///   - limit: the maximum number of rows of all requests together.
    ///   - offset: the number of rows to skip at the start.
    package init(_ storage: any ReadTransaction, _ requests: [FetchRequest], limit: Int?, offset: Int, layout: RecordLayout) throws {
        self.storage = storage
        self.requests = requests[...]
        left = limit.map { Int(clamping: $0.magnitude + offset.magnitude) }
        super.init(layout: layout)
        for _ in 0..<offset { guard try next() else { break } }
    }

    package override func next() throws -> Bool {
        while left ?? 1 > 0 {
            guard let cursor = try current ?? open() else { return false }
            if try cursor.next() {
                left = left.map { $0 - 1 }
                setCurrent(cursor.rowID, cursor.record)
                return true
            }
            close()
        }
        return false
    }

    private func open() throws -> RecordCursor? {
        guard var request = requests.popFirst() else { return nil }
        (request.limit, request.offset) = (left, 0)
        current = try storage.fetch(request)
        return current
    }

    package override func close() {
        current?.close()
        current = nil
    }
}
