import PolyStoreCore

/// An open transaction, with what the model expects in it.
final class GraphLevel {
    let transaction: Transaction
    let kind: GraphOperation.Kind
    /// What the transaction shows.
    var state: GraphState
    /// What it shows without its changes.
    var base: GraphState
    /// The values of changed objects before the change.
    private(set) var originals: [GraphKey: GraphState.Object] = [:]
    /// The states before the steps that can be undone, and after those that can be done again.
    var undoable: [GraphState] = []
    var redoable: [GraphState] = []
    /// The state at the beginning of the current step, and whether there have been operations in it.
    var stepStart: GraphState
    var isStepOpen = false
    /// A Boolean value that indicates whether the body has committed the transaction.
    var isCommitted = false
    private var objects: [GraphKey: any Model] = [:]

    init(_ transaction: Transaction, _ kind: GraphOperation.Kind, _ state: GraphState) {
        self.transaction = transaction
        self.kind = kind
        (self.state, base, stepStart) = (state, state, state)
    }

    /// The transaction, if it is outside the write queue.
    var unsafe: UnsafeTransaction? { transaction as? UnsafeTransaction }

    /// Returns the object with a key: the one that is kept, also if it was deleted, or the one that the transaction finds.
    func object(_ key: GraphKey, _ ids: GraphIDs) throws -> (any Model)? {
        if let object = objects[key] { return object }
        guard state.objects[key] != nil, let id = ids[key] else { return nil }
        let found = try id.fetchExisting(transaction)
        guard let found else { throw GraphMismatch("\(key) is not found by its id") }
        objects[key] = found
        return found
    }

    func keep(_ object: any Model, _ key: GraphKey) { objects[key] = object }

    /// Releases the objects except the deleted ones, which cannot be found again.
    func releaseObjects(all: Bool = false) { objects = all ? [:] : objects.filter { state.deleted[$0.key] != nil } }

    /// Notes an operation.
    func didChange() {
        isStepOpen = true
        updateOriginals()
    }

    func updateOriginals() {
        originals = originals.filter { state.edits[$0.key] != nil || state.deleted[$0.key] != nil }
        for key in Array(state.edits.keys) + state.deleted.keys where originals[key] == nil { originals[key] = base.objects[key] }
    }

    /// Begins again after a commit or a rollback.
    func begin(_ state: GraphState) {
        (self.state, base, stepStart) = (state, state, state)
        (originals, undoable, redoable, isStepOpen) = ([:], [], [], false)
    }
}
