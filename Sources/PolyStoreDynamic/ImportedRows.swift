import PolyStoreBackend
import PolyStoreTransfer

/// The rows that the records of an import run have become, by the row ids in the records.
final class ImportedRows: ImportRunObserver {
    private struct State {
        var committed: [Int64: Int64] = [:]
        /// Those of the batch that is being imported.
        var pending: [Int64: Int64] = [:]
    }

    private let state = Protected(State())

    func willImportBatch() { state.withLock { $0.pending.removeAll(keepingCapacity: true) } }

    func didCommitBatch() {
        state.withLock { state in
            if state.committed.isEmpty { swap(&state.committed, &state.pending) } else { state.committed.merge(state.pending) { $1 } }
            state.pending.removeAll(keepingCapacity: true)
        }
    }

    /// Adds the row of a record.
    /// - Parameter id: The row id in the record. Of several records with the same one, none is found.
    func add(_ id: Int64, _ rowID: Int64) {
        state.withLock { state in
            let known = state.pending[id] ?? state.committed[id]
            state.pending[id] = known ?? rowID == rowID ? rowID : 0
        }
    }

    /// The row of the record with a row id; `nil` if no record or several have it.
    subscript(id: Int64) -> Int64? { state.withLock { $0.pending[id] ?? $0.committed[id] }.flatMap { $0 == 0 ? nil : $0 } }
}
