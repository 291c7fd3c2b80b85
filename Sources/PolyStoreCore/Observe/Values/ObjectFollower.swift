import PolyStoreBackend

/// Follows the values of an object of a context. The follower and the context do not retain each other.
final class ObjectFollower<T: Model> {
    /// The newest values; nil if the store does not contain the object.
    private(set) var snapshot: ObjectSnapshot<T>?
    private let id: ObjectID<T>
    private let row: RowReference
    private let onChange: (ObjectSnapshot<T>?) -> Void
    private var isChanged = false

    init(_ id: ObjectID<T>, _ context: Context, onChange: @escaping (ObjectSnapshot<T>?) -> Void) throws {
        self.id = id
        self.onChange = onChange
        row = RowReference(entityIndex: try context.entry(of: id).entityIndex, rowID: id.rowID)
        let observers = context.startObserving()
        snapshot = try context.fetchSnapshot(id)
        observers.add(self, of: row)
    }
}

extension ObjectFollower: ContextObserver {
    func contextDidMove(_ move: ContextMove, _ context: Context) {
        guard move.step.row(row.entityIndex, row.rowID) != nil || move.isPartial else { return }
        do {
            let new = try context.fetchSnapshot(id)
            isChanged = new != snapshot
            snapshot = new
        } catch {
            context.log(.error, "The observed \(id) could not be read: \(error)")
            context.observers?.hasFailed = true
        }
    }

    func notify() {
        guard isChanged else { return }
        isChanged = false
        onChange(snapshot)
    }
}
