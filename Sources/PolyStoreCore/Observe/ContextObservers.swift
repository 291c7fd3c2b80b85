import PolyStoreBackend

/// Something that follows what a context shows: a list, or an object.
protocol ContextObserver: AnyObject {
    /// What an object must have, before a change or after it, to concern the observer; nil: any object may.
    var route: ObserverRoute? { get }
    /// The entities whose objects it reports; nil: any.
    var observedSlots: [Int32]? { get }
    /// Called before the context moves, while objects still have their old values.
    func contextWillMove(_ move: ContextMove)
    /// Called when the context shows the new snapshot, before anyone is notified. Takes the changes over, and keeps them for ``notify()``.
    func contextDidMove(_ move: ContextMove, _ context: Context)
    /// Called when all observers have taken the changes over.
    func notify()
}

extension ContextObserver {
    var route: ObserverRoute? { nil }
    var observedSlots: [Int32]? { nil }
}

/// A move of a context from one state to another.
struct ContextMove {
    /// What the commits in between changed, or the pending changes of a transaction.
    let step: CommittedStep
    /// A Boolean value that indicates whether more has changed than the step tells: then everything observed is compared.
    var isPartial = false
    /// A Boolean value that indicates whether stores were added.
    var hasNewStores = false
    /// Reads an object's record as it was before the move.
    var oldRecord: (ListRow) throws -> RecordView? = { _ in nil }
    /// Tells whether an object's record is another one now, where the step does not tell.
    var isChanged: (ListRow) -> Bool = { _ in false }
}

/// A value of one field that all objects of a list have: commits that concern no object with it do not concern the list.
struct ObserverRoute {
    struct Field: Hashable {
        let slot: Int32
        let ordinal: Int
    }

    let field: Field
    let value: Value
}

/// The observers of one context.
final class ContextObservers {
    private struct Reference {
        weak var observer: (any ContextObserver)?
    }

    private var lists: [Reference] = []
    /// The lists whose objects all have one value of a field.
    private var routes: [ObserverRoute.Field: [Value: [Reference]]] = [:]
    private var objects: [ListRow: [Reference]] = [:]
    /// So many observed objects are kept before those are dropped that have no observer any more.
    private var objectLimit = 64
    /// The entities that observers report, those of observers that are gone included; nil: all.
    private var slots: Set<Int32>? = []

    /// A Boolean value that indicates whether an observer may report objects of an entity.
    func reports(_ slot: Int32) -> Bool { slots?.contains(slot) ?? true }

    private func note(_ observer: any ContextObserver) {
        if let observed = observer.observedSlots { slots?.formUnion(observed) } else { slots = nil }
    }

    func add(_ list: any ContextObserver) {
        note(list)
        if let route = list.route {
            Self.add(list, to: &routes[route.field, default: [:]][route.value, default: []])
        } else {
            Self.add(list, to: &lists)
        }
    }

    private static func add(_ observer: any ContextObserver, to references: inout [Reference]) {
        references.removeAll { $0.observer == nil }
        references.append(Reference(observer: observer))
    }

    /// Forgets a list, which is added again with another route.
    func remove(_ list: any ContextObserver) {
        lists.removeAll { $0.observer === list }
        for field in routes.keys {
            for value in routes[field]?.keys.map({ $0 }) ?? [] {
                routes[field]?[value]?.removeAll { $0.observer == nil || $0.observer === list }
            }
        }
    }

    func add(_ observer: any ContextObserver, of row: ListRow) {
        note(observer)
        objects[row, default: []].removeAll { $0.observer == nil }
        objects[row, default: []].append(Reference(observer: observer))
        guard objects.count > objectLimit else { return }
        objects = objects.filter { $0.value.contains { $0.observer != nil } }
        objectLimit = max(64, 2 * objects.count)
    }

    /// The observers that a move may concern.
    func concerned(_ move: ContextMove, _ entries: [StoreEntity]) -> [any ContextObserver] {
        var found = lists.compactMap(\.observer)
        if move.isPartial || move.hasNewStores {
            for references in routes.values.flatMap(\.values) { found += references.compactMap(\.observer) }
            return found + objects.values.flatMap { $0.compactMap(\.observer) }
        }
        for field in routes.keys { addRouted(field, move, entries[Int(field.slot)], to: &found) }
        if !objects.isEmpty {
            for (slot, rows) in move.step.rows {
                for row in rows { found += (objects[ListRow(slot: slot, rowID: row.rowID)] ?? []).compactMap(\.observer) }
            }
        }
        return found
    }

    /// Adds the lists of the values that changed objects have or had.
    private func addRouted(
        _ route: ObserverRoute.Field, _ move: ContextMove, _ entry: StoreEntity, to found: inout [any ContextObserver]
    ) {
        guard let rows = move.step.rows[route.slot], let byValue = routes[route] else { return }
        let field = entry.entity.fields[route.ordinal]
        var values: Set<Value> = []
        for row in rows {
            if let record = row.record { values.insert(record.value(field)) }
            let isUnchanged =
                row.record != nil && (row.wasInserted && !row.wasDeleted || !row.wasInserted && !row.mask.contains(field.ordinal))
            if isUnchanged { continue }
            do {
                if let record = try move.oldRecord(ListRow(slot: route.slot, rowID: row.rowID)) { values.insert(record.value(field)) }
            } catch {
                // What cannot be read may concern every list.
                for references in byValue.values { found += references.compactMap(\.observer) }
                return
            }
        }
        for value in values { found += (byValue[value] ?? []).compactMap(\.observer) }
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
