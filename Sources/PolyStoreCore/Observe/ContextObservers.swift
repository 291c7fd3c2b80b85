import PolyStoreBackend

/// Something that follows what a context shows: a list, or an object.
protocol ContextObserver: AnyObject {
    /// Called before the context moves, while objects still have their old values.
    func contextWillMove(_ move: ContextMove)
    /// Called when the context shows the new snapshot, before anyone is notified. Takes the changes over, and keeps them for ``notify()``.
    func contextDidMove(_ move: ContextMove, _ context: Context)
    /// Called when all observers have taken the changes over.
    func notify()
}

/// A move of a context from one state to another.
struct ContextMove {
    /// What the commits in between changed, or the pending changes of a transaction.
    let step: CommittedStep
    /// A Boolean value that indicates whether more has changed than the step tells: then everything observed is compared.
    var isPartial = false
    /// A Boolean value that indicates whether stores were added.
    var hasNewStores = false
    /// Tells whether an object's record is another one now, where the step does not tell.
    var isChanged: (ListRow) -> Bool = { _ in false }
}

/// The observers of one context.
final class ContextObservers {
    private struct Reference {
        weak var observer: (any ContextObserver)?
    }

    private var lists: [Reference] = []
    private var objects: [ListRow: [Reference]] = [:]
    /// So many observed objects are kept before those are dropped that have no observer any more.
    private var objectLimit = 64

    var isEmpty: Bool { lists.allSatisfy { $0.observer == nil } && objects.values.allSatisfy { $0.allSatisfy { $0.observer == nil } } }

    func add(_ list: any ContextObserver) {
        lists.removeAll { $0.observer == nil }
        lists.append(Reference(observer: list))
    }

    func add(_ observer: any ContextObserver, of row: ListRow) {
        objects[row, default: []].removeAll { $0.observer == nil }
        objects[row, default: []].append(Reference(observer: observer))
        guard objects.count > objectLimit else { return }
        objects = objects.filter { $0.value.contains { $0.observer != nil } }
        objectLimit = max(64, 2 * objects.count)
    }

    /// The observers that a move may concern.
    func concerned(_ move: ContextMove) -> [any ContextObserver] {
        var found = lists.compactMap(\.observer)
        if move.isPartial || move.hasNewStores {
            found += objects.values.flatMap { $0.compactMap(\.observer) }
        } else if !objects.isEmpty {
            for (slot, rows) in move.step.rows {
                for row in rows { found += (objects[ListRow(slot: slot, rowID: row.rowID)] ?? []).compactMap(\.observer) }
            }
        }
        return found
    }
}

extension ContextMove {
    /// A Boolean value that indicates whether an object's record is not the same in two snapshots. One that cannot be read counts as another.
    static func differs(_ entry: StoreEntity, _ rowID: Int64, _ old: any ReadTransaction, _ new: any ReadTransaction) -> Bool {
        do {
            let before = try old.record(entry.entity, id: rowID)
            let after = try new.record(entry.entity, id: rowID)
            guard let before, let after else { return (before == nil) != (after == nil) }
            return Order.of(before.bytes, after.bytes) != 0
        } catch {
            return true
        }
    }
}
