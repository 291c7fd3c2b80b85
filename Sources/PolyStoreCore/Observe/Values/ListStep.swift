/// What a consumer of an observed list has not seen yet.
struct ListStep: Sendable {
    /// The newest state of the list.
    private(set) var contents: ListContents
    /// The change that leads to it from the state that the consumer saw; nil if there were several.
    private(set) var delta: ListDelta?
    /// The rows that were inserted or updated since that state, and are in the list.
    private(set) var touched: Set<ListRow> = []

    /// - Parameter delta: nil for the initial state.
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

    /// The change from the state that the consumer saw. A row whose values are the same again is not updated.
    func change(from old: ListContents) -> ListDelta {
        if let delta { return delta }
        return contents.delta(from: old) { row in
            guard touched.contains(row), let before = old.index(of: row), let after = contents.index(of: row) else { return false }
            return old.rows[before].record != contents.rows[after].record
        }
    }
}

extension Handoff where Element == ListStep {
    /// Passes a change on.
    func add(_ contents: ListContents, _ delta: ListDelta) {
        update { pending in
            if pending == nil { pending = ListStep(contents, delta) } else { pending?.add(contents, delta) }
        }
    }
}
