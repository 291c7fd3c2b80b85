import PolyStoreKernel
import PolyStoreRuns

/// The part of an observed list's history that a consumer has not received yet.
struct ListStep: Sendable {
    /// The newest state of the list.
    private(set) var contents: ListContents
    /// The change from the consumer's state to the latest one; `nil` if there were several changes.
    private(set) var delta: ListDelta?
    /// The rows of the list that were inserted or updated since the consumer's state.
    private(set) var touched: Set<RowReference> = []

    /// - Parameter delta: The change; `nil` for the initial state.
    init(_ contents: ListContents, _ delta: ListDelta?) {
        self.contents = contents
        self.delta = delta
        if let delta { touch(delta) }
    }

    /// Adds a later change.
    mutating func add(_ contents: ListContents, _ delta: ListDelta) {
        self.contents = contents
        self.delta = nil
        touch(delta)
    }

    private mutating func touch(_ delta: ListDelta) {
        for change in delta.deleted { touched.remove(change.row) }
        for change in delta.inserted { touched.insert(change.row) }
        for change in delta.updated { touched.insert(change.row) }
        for move in delta.moved where move.isUpdated { touched.insert(move.row) }
    }

    /// Returns the change from the consumer's state. A row whose values have been restored is not updated.
    func change(from old: ListContents) -> ListDelta {
        if let delta { return delta }
        return contents.delta(from: old) { row in
            guard touched.contains(row), let before = old.index(of: row), let after = contents.index(of: row) else { return false }
            return old.rows[before].record != contents.rows[after].record
        }
    }
}

extension Handoff where Element == ListStep {
    /// Passes a change to the consumer.
    func add(_ contents: ListContents, _ delta: ListDelta) {
        update { pending in
            if pending == nil { pending = ListStep(contents, delta) } else { pending?.add(contents, delta) }
        }
    }
}
