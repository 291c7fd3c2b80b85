import PolyStoreBackend
import PolyStoreKernel

/// Follows the values of an object of a context. The follower and the context do not retain each other.
final class ObjectFollower<T: Model> {
    /// The newest values; nil if the store does not contain the object.
    private(set) var snapshot: ObjectSnapshot<T>?
    private let id: ObjectID<T>
    private var observed: ObservedRow
    private let onChange: (ObjectSnapshot<T>?) -> Void
    private var isChanged = false
    /// A Boolean value that indicates whether reading the object failed, so that it must be read with the next move.
    private var isOutdated = false

    init(_ id: ObjectID<T>, _ context: Context, onChange: @escaping (ObjectSnapshot<T>?) -> Void) throws {
        self.id = id
        self.onChange = onChange
        observed = ObservedRow(RowReference(entityIndex: try context.entry(of: id).entityIndex, rowID: id.rowID))
        let observers = context.startObserving()
        snapshot = try context.fetchSnapshot(id)
        observers.add(self, of: observed.row)
    }
}

extension ObjectFollower: ContextObserver {
    func contextDidMove(_ move: ContextMove, _ context: Context) {
        let old = observed
        if move.hasNewStores {
            observed = old.followed(id, context)
            observe(observed, insteadOf: old, context)
        }
        let isMoved = observed != old
        let row = observed.row
        guard move.step.row(row.entityIndex, row.rowID) != nil || move.isPartial || isMoved || isOutdated else { return }
        do {
            // Cleared after the object was read.
            isOutdated = true
            let new = observed.isInStack ? try context.fetchSnapshot(id) : nil
            isChanged = new != snapshot
            snapshot = new
            isOutdated = false
        } catch {
            context.logFailedRead(error, "The observed \(id) could not be read")
        }
    }

    func notify() {
        guard isChanged else { return }
        isChanged = false
        onChange(snapshot)
    }
}
