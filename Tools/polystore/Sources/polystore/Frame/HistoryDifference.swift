import Foundation
import PolyStoreBackend
import PolyStoreCore

/// The objects of a store that have changed since a point in its history.
struct HistoryDifference {
    /// The recorded changes of one object.
    private struct Changes {
        let id: AnyObjectID?
        let entityName: String
        let rowID: Int64
        let wasInserted: Bool
        var isDeleted = false
        /// The changed properties in the order of their first changes.
        var keys: [String] = []
        /// The recorded values at the point.
        var old: [String: QueryValue] = [:]
        /// The properties whose values at the point were recorded; null is not among the values.
        var known: Set<String> = []

        init(_ change: HistoryChange) {
            (id, entityName, rowID) = (change.objectID, change.entityName, change.rowID)
            wasInserted = change.kind == .inserted
        }

        mutating func add(_ change: HistoryChange, recordsValues: Bool) {
            isDeleted = change.kind == .deleted
            let names = change.kind == .deleted ? change.previousValues.keys.sorted() : change.changedKeys
            for name in names where !keys.contains(name) {
                keys.append(name)
                old[name] = change.previousValues[name]
                if recordsValues { known.insert(name) }
            }
        }
    }

    private let opened: OpenStore
    private let entity: String?
    private let output: DifferenceOutput

    init(_ opened: OpenStore, _ entity: String?, _ output: DifferenceOutput) {
        (self.opened, self.entity, self.output) = (opened, entity, output)
    }

    /// Writes the differences.
    /// - Returns: Whether the history has recorded every commit since the point.
    /// - Throws: `failure` if entries after a date were deleted.
    func write(since point: HistoryPoint) async throws -> Bool {
        guard try await opened.hasHistory() else { throw opened.withoutHistory() }
        if case .date(let date) = point { try await checkBeginning(date) }
        let (order, changes, isComplete) = try await changes(since: point)
        if !isComplete {
            StandardStreams.report(
                "The history has gaps: a program changed the store without recording it, and its changes are not among the differences. Compare with a backup to see all."
            )
        }
        let (opened, output) = (opened, output)
        try await opened.reading { context in
            for key in order {
                try Task.checkCancellation()
                guard let change = changes[key] else { continue }
                if let difference = try Self.difference(change, opened, context) { try output.write(difference) }
            }
        }
        return isComplete
    }

    /// - Throws: `failure` if entries after a date were deleted.
    private func checkBeginning(_ date: Date) async throws {
        let beginning = try await opened.stack.history(limit: 1)
        let storeID = opened.store.storeID
        guard let first = beginning.first else {
            throw ToolError(
                .failure, "The history of \(opened.location.name) was deleted, so that the differences since a date are not known.")
        }
        guard first.token.position(in: storeID) ?? 0 > 1, first.date > date else { return }
        throw ToolError(
            .failure,
            "The history of \(opened.location.name) begins at \(Cell(first.date).text): earlier entries were deleted. Pass a date from then on, or compare with a backup."
        )
    }

    private func changes(since point: HistoryPoint) async throws -> (order: [String], found: [String: Changes], isComplete: Bool) {
        var (order, found): ([String], [String: Changes]) = ([], [:])
        // Commits that others add meanwhile can have entries after those that are read.
        let newest = RecordedPoint(try await opened.stack.historyToken(), opened.store)
        var isComplete = true
        var filter = try entity.map { try opened.stack.historyFilter(of: $0) } ?? .all
        var token: HistoryToken?
        switch point {
        case .token(let since): token = since
        case .date(let date): filter = filter.dates(date..<Date.distantFuture)
        }
        var hasMore = true
        while hasMore {
            let part = try await opened.stack.history(since: token, matching: filter, limit: 256)
            for entry in part {
                if entry.followsUnrecordedCommits { isComplete = false }
                let recordsValues = entry.changes.contains { !$0.previousValues.isEmpty }
                for change in entry.changes {
                    let key = "\(change.objectID?.entityName ?? change.entityName) \(change.rowID)"
                    if found[key] == nil { order.append(key) }
                    found[key, default: Changes(change)].add(change, recordsValues: recordsValues)
                }
            }
            (token, hasMore) = (part.token, part.hasMore)
            try Task.checkCancellation()
        }
        let end = RecordedPoint(token, opened.store)
        return (order, found, isComplete && !end.isMarked && newest.version <= end.version)
    }

    private static func difference(_ change: Changes, _ opened: OpenStore, _ context: Context) throws -> ObjectDifference? {
        if change.wasInserted && change.isDeleted { return nil }
        let entity = opened.schema.entities.first { $0.name == change.id?.entityName }
        let name = "\(change.rowID)"
        if change.isDeleted {
            let values = change.keys.compactMap { key in
                change.old[key].map { (key, Optional(opened.cell($0, key, of: change.entityName)), Cell?.none) }
            }
            return ObjectDifference(kind: .removed, entity: change.entityName, name: name, values: values)
        }
        // It can have been deleted by a commit that was not recorded.
        guard let entity, let id = change.id, let object = try context.fetchExisting(id) else { return nil }
        let compared = try ComparedEntity(entity, entity, in: opened.schema, byRowID: true).object(object)
        if change.wasInserted { return compared.whole(.added) }
        let values = change.keys.compactMap { key -> (property: String, old: Cell?, new: Cell?)? in
            let new = compared.cells[key] ?? .null
            guard change.known.contains(key), isAttributeOrToOne(key, entity) else { return (key, nil, new) }
            let old = opened.cell(change.old[key], key, of: change.entityName)
            return old.hasSameValue(as: new) ? nil : (key, old, new)
        }
        return values.isEmpty ? nil : ObjectDifference(kind: .changed, entity: change.entityName, name: name, values: values)
    }

    private static func isAttributeOrToOne(_ name: String, _ entity: EntityDescription) -> Bool {
        switch entity.properties.first(where: { $0.name == name }) {
        case .attribute: true
        case .relationship(let relationship): !relationship.isToMany
        case nil: false
        }
    }
}
