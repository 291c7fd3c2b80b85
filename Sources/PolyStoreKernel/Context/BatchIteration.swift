import PolyStoreBackend

/// The state of a running ``Context/fetchInBatches(_:size:_:)``.
///
/// Its cursors read the snapshots of the context. Before the context ends those snapshots, because the body commits, rolls back or refreshes, the row
/// ids of the remaining objects are read. The objects are then read by their row ids.
@usableFromInline
package final class BatchIteration {
    /// The entities of the rows, one per store.
    let entries: [StoreEntity]
    /// Returns the next row: the index of its entry and its row id; nil at the end.
    private let next: () throws -> (entry: Int, rowID: Int64)?
    private let closeCursors: () -> Void
    /// A Boolean value that indicates whether the snapshots have ended.
    @usableFromInline private(set) var hasMoved = false
    /// A Boolean value that indicates whether the cursors have returned their last row.
    @usableFromInline var isAtEnd = false
    /// The row ids of the remaining objects, after the snapshots have ended.
    private var rowIDs: [Int64] = []
    /// The index of the entry of each of the remaining objects; empty if there is one entry.
    private var owners: [Int] = []
    /// The number of remaining objects that have been taken.
    private var taken = 0
    /// The error that ended the reading of the remaining row ids.
    private var failure: (any Error)?

    init(entries: [StoreEntity], close: @escaping () -> Void, next: @escaping () throws -> (entry: Int, rowID: Int64)?) {
        self.entries = entries
        closeCursors = close
        self.next = next
    }

    /// Reads the row ids of the remaining objects. Called before the snapshots end. An error is thrown when the next batch is read.
    func detach() {
        guard !hasMoved else { return }
        hasMoved = true
        defer { closeCursors() }
        guard !isAtEnd else { return }
        do {
            while let row = try next() {
                rowIDs.append(row.rowID)
                if entries.count > 1 { owners.append(row.entry) }
            }
        } catch {
            failure = error
        }
    }

    /// Returns the next of the remaining rows.
    func takeRemaining(_ most: Int) throws -> [(entry: Int, rowID: Int64)] {
        if let failure { throw failure }
        let end = taken + min(most, rowIDs.count - taken)
        defer { taken = end }
        return (taken..<end).map { (owners.isEmpty ? 0 : owners[$0], rowIDs[$0]) }
    }

    func close() { if !hasMoved { closeCursors() } }
}

extension Context {
    /// Reads the row ids of the remaining objects of all running iterations. Called before the snapshots of the context end.
    final func detachIterations() { for iteration in iterations { iteration.detach() } }
}
