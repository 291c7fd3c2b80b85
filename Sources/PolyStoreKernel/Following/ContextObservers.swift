import PolyStoreBackend

/// The observers of one context.
package final class ContextObservers {
    private struct Reference {
        weak var observer: (any ContextObserver)?
    }

    private var lists: [Reference] = []
    /// The lists whose objects all have the same value of a field.
    private var routes: [ObserverRoute.Field: [Value: [Reference]]] = [:]
    private var objects: [RowReference: [Reference]] = [:]
    /// The number of observed objects at which entries without observers are removed.
    private var objectLimit = 64
    /// A Boolean value that indicates whether an observer could not read the last move, so that the next one must be compared completely.
    package var hasFailed = false
    /// Owners of observers to whom a move was announced, which are kept until it is reported.
    private var kept: [AnyObject] = []
    /// The number of observers that were added.
    private var additionCount = 0
    /// The entities that observers report, including released observers; `nil` for all.
    private var entityIndexes: Set<Int32>? = []

    /// Returns whether an observer may report objects of an entity.
    func reports(_ entityIndex: Int32) -> Bool { entityIndexes?.contains(entityIndex) ?? true }

    /// Called when something was added that must be notified of a move that is being announced.
    package func didAdd() { additionCount += 1 }

    /// Keeps an object until the callbacks of the current move have returned, also if a callback releases it.
    package func keep(_ owner: AnyObject) { kept.append(owner) }

    /// Releases what was kept for a move, which has been reported or has failed.
    func releaseKept() { if !kept.isEmpty { kept.removeAll(keepingCapacity: true) } }

    private func extendEntities(_ observer: any ContextObserver) {
        didAdd()
        if let observed = observer.observedEntities { entityIndexes?.formUnion(observed) } else { entityIndexes = nil }
    }

    package func add(_ list: any ContextObserver) {
        extendEntities(list)
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

    /// Removes a list, which is added again with another route.
    func remove(_ list: any ContextObserver) {
        lists.removeAll { $0.observer === list }
        for field in routes.keys {
            for value in routes[field]?.keys.map({ $0 }) ?? [] {
                routes[field]?[value]?.removeAll { $0.observer == nil || $0.observer === list }
            }
        }
    }

    /// Removes the observer of an object, which is added again with another row.
    package func remove(_ observer: any ContextObserver, of row: RowReference) {
        objects[row]?.removeAll { $0.observer == nil || $0.observer === observer }
        if objects[row]?.isEmpty ?? false { objects[row] = nil }
    }

    package func add(_ observer: any ContextObserver, of row: RowReference) {
        extendEntities(observer)
        objects[row, default: []].removeAll { $0.observer == nil }
        objects[row, default: []].append(Reference(observer: observer))
        guard objects.count > objectLimit else { return }
        objects = objects.filter { $0.value.contains { $0.observer != nil } }
        objectLimit = max(64, 2 * objects.count)
    }

    /// Announces a move to the observers that it may affect, including those that are added by callbacks.
    /// - Returns: The observers.
    func announce(_ move: ContextMove, _ entries: [StoreEntity]) -> [any ContextObserver] {
        var found: [any ContextObserver] = []
        var known = -1
        while known != additionCount {
            known = additionCount
            // The observers found before stay alive until they are found again.
            let before = found
            found = withExtendedLifetime(before) { concerned(move, entries) }
            for observer in found { observer.contextWillMove(move) }
        }
        return found
    }

    /// Returns the observers that a move may affect.
    func concerned(_ move: ContextMove, _ entries: [StoreEntity]) -> [any ContextObserver] {
        var found = lists.compactMap(\.observer)
        if move.isPartial || move.hasNewStores {
            for references in routes.values.flatMap(\.values) { found += references.compactMap(\.observer) }
            return found + objects.values.flatMap { $0.compactMap(\.observer) }
        }
        for field in routes.keys { addRouted(field, move, entries[Int(field.entityIndex)], to: &found) }
        if !objects.isEmpty {
            for (entityIndex, rows) in move.step.rows {
                for row in rows {
                    found += (objects[RowReference(entityIndex: entityIndex, rowID: row.rowID)] ?? []).compactMap(\.observer)
                }
            }
        }
        return found
    }

    /// Adds the lists for the previous and current values of changed objects.
    private func addRouted(
        _ route: ObserverRoute.Field, _ move: ContextMove, _ entry: StoreEntity, to found: inout [any ContextObserver]
    ) {
        guard let rows = move.step.rows[route.entityIndex], let byValue = routes[route] else { return }
        let field = entry.entity.fields[route.index]
        var values: Set<Value> = []
        for row in rows {
            if let record = row.record { values.insert(record.value(field)) }
            let isUnchanged =
                row.record != nil && (row.wasInserted && !row.wasDeleted || !row.wasInserted && !row.mask.contains(field.index))
            if isUnchanged { continue }
            do {
                if let record = try move.oldRecord(RowReference(entityIndex: route.entityIndex, rowID: row.rowID)) {
                    values.insert(record.value(field))
                }
            } catch {
                // An unreadable record may affect every list.
                for references in byValue.values { found += references.compactMap(\.observer) }
                return
            }
        }
        for value in values { found += (byValue[value] ?? []).compactMap(\.observer) }
    }
}
