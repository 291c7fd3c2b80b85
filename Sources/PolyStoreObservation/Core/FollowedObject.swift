import PolyStoreBackend
import PolyStoreKernel

/// A change of a followed object, as its subscribers receive it.
struct ObjectNotification<Value> {
    /// The object before the change; `nil` if it did not exist.
    let old: Value?
    /// The object after the change; `nil` if it does not exist.
    let new: Value?
    /// The changed to-many relationships, by relationship index.
    let relationships: [Int32]
    /// The number of the last subscriber to whom the change is reported; see ``Subscribers``.
    let audience: Int
    /// The number of the last subscriber to whom the change was announced.
    let announced: Int
}

/// An object in one context: a value that is read again with each move that changes the object.
///
/// It reports each change to its subscribers when all lists and objects of the context show the move. Monitors, publishers and live objects subscribe to it. The
/// object and the context do not retain each other.
///
/// A store that is removed from the stack and added again has other entity indexes, so its objects have other rows. The object is then read under its new row.
final class FollowedObject<T: Model, Value: Equatable> {
    let id: ObjectID<T>
    /// The object as the context shows it; `nil` if it does not exist, or its store is not one of the stack.
    private(set) var value: Value?
    /// The row, or the last one if the object's store is not one of the stack.
    private(set) var row: RowReference
    let subscribers = Subscribers<(ObjectNotification<Value>) -> Void>()
    /// Called before the object's values change.
    var announce: (() -> Void)?
    /// The number of the last subscriber to whom the current move was announced.
    var announced = 0
    private var isInStack = true
    /// A Boolean value that indicates whether the value was read under another row.
    private var isMoved = false
    /// The change that has not been reported yet, with the owner of the first subscriber, which is kept until then.
    private var unreported: (change: ObjectNotification<Value>, owner: AnyObject?)?
    private let observers: ContextObservers
    private let reportsRelationships: Bool
    private let read: (_ known: Value?, _ row: RowReference, _ step: CommittedStep.Row?, _ context: Context) throws -> Value?
    private var state = ReadState()

    /// - Parameters:
    ///   - reportsRelationships: A Boolean value that indicates whether a change of a to-many relationship alone is reported.
    ///   - read: Returns the object; `nil` if it does not exist. Receives what is known of it, its row, and its changes.
    init(
        _ id: ObjectID<T>, _ context: Context, reportsRelationships: Bool = false,
        read: @escaping (Value?, RowReference, CommittedStep.Row?, Context) throws -> Value?
    ) throws {
        self.id = id
        self.reportsRelationships = reportsRelationships
        self.read = read
        context.beginReading()
        defer { context.endReading() }
        row = RowReference(entityIndex: try context.entry(of: id).entityIndex, rowID: id.rowID)
        // Observation starts before the object is read, so that no commit in between is missed.
        observers = context.startObserving()
        value = try read(nil, row, nil, context)
        observers.add(self, of: row)
    }

    /// Finds the row after stores were removed or added.
    private func findRow(_ context: Context) {
        let (old, wasInStack) = (row, isInStack)
        let entry = try? context.entry(of: id)
        isInStack = entry != nil
        if let entry { row = RowReference(entityIndex: entry.entityIndex, rowID: id.rowID) }
        isMoved = isMoved || row != old || isInStack != wasInStack
        guard row != old else { return }
        observers.remove(self, of: old)
        observers.add(self, of: row)
    }
}

extension FollowedObject: ContextObserver {
    var observedEntities: [Int32]? { [row.entityIndex] }

    func contextWillMove(_ move: ContextMove) {
        guard let announce, value != nil else { return }
        let isUpdate: Bool
        if let step = move.step.row(row.entityIndex, row.rowID) {
            // A deleted object can have been inserted again, also with its previous values.
            isUpdate = step.wasDeleted ? step.source != nil && (move.isChanged(row) || !step.relationships.isEmpty) : step.isUpdate
        } else {
            isUpdate = move.isPartial && move.isChanged(row)
        }
        guard isUpdate else { return }
        // A monitor that a callback releases meanwhile reports what it has announced.
        if let owner = subscribers.firstOwner { observers.keep(owner) }
        announce()
    }

    func contextDidMove(_ move: ContextMove, _ context: Context) {
        if move.hasNewStores { findRow(context) }
        let step = move.step.row(row.entityIndex, row.rowID)
        guard step != nil || move.isPartial || isMoved || state.isOutdated else { return }
        let found = state.read(context, "The observed \(id) could not be read") {
            // What was known of the previous row does not show the store that was added again.
            isInStack ? try read(isMoved ? nil : value, row, step, context) : nil
        }
        guard case .some(let new) = found else { return }
        isMoved = false
        let relationships = reportsRelationships && new != nil ? step?.relationships ?? [] : []
        if new != value || !relationships.isEmpty {
            let change = ObjectNotification(
                old: value, new: new, relationships: relationships, audience: subscribers.numbers.last, announced: announced)
            unreported = (change, subscribers.firstOwner)
        }
        value = new
    }

    func notify() {
        announced = 0
        guard let (change, owner) = unreported else { return }
        unreported = nil
        withExtendedLifetime(owner) { subscribers.forEach(through: change.audience) { $0(change) } }
    }
}

extension FollowedObject where Value == ObjectSnapshot<T> {
    /// Follows the values of an object, which need not exist yet.
    convenience init(snapshotsOf id: ObjectID<T>, _ context: Context) throws {
        try self.init(id, context) { _, _, _, context in try context.fetchSnapshot(id) }
    }
}
