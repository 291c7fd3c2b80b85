import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch

/// The related objects of one store including pending changes, for predicates on relationships.
final class PendingRelated: ServerRecords, SearchStatisticsSource {
    private let editor: Editor
    private let store: PersistentStore
    private let storage: any ReadTransaction

    init(_ editor: Editor, _ store: PersistentStore, _ storage: any ReadTransaction) {
        self.editor = editor
        self.store = store
        self.storage = storage
    }

    var server: ServerSnapshot? { (storage as? any ServerRecords)?.server }

    var interruption: Interruption? {
        get { storage.interruption }
        set { storage.interruption = newValue }
    }

    func statistics(of condition: SearchCondition) throws -> SearchStatistics { try storage.statistics(of: condition) }

    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? {
        editor.context.settleMembers()
        let entityIndex = Int(store.firstEntityIndex) + entity.index
        switch state(entityIndex, rowID) {
        case .stored: return try storage.record(entity, rowID: rowID)
        case .deleted: return nil
        case .changed(let edit):
            let records = editor.records(entityIndex)
            try records.catchUp(editor.buffer.changes(of: entityIndex))
            return records.record(edit)
        }
    }

    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        editor.context.settleMembers()
        let stored = try storage.related(relationship, of: sources)
        if let forward = forward(relationship) { return owners(forward, sources, stored) }
        let entityIndex = store.firstEntityIndex + Int32(relationship.source)
        let destination = Int(store.firstEntityIndex) + relationship.destination
        var found = RelatedIDs()
        for source in sources {
            let changes = editor.pendingMembers(
                RelationshipKey(entityIndex: entityIndex, relationship: Int32(relationship.index), rowID: source))
            var targets = changes?.applied(to: stored[source]) ?? stored[source]
            if !(editor.buffer[destination]?.deleted.isEmpty ?? true) {
                targets.removeAll { if case .deleted = state(destination, $0) { true } else { false } }
            }
            for target in relationship.isOrdered ? targets : targets.sorted() { found.add(source: source, target: target) }
        }
        return found
    }

    /// Returns the relationship whose ``Relationship/reversed`` is the given one, or nil if the given one is declared.
    private func forward(_ relationship: Relationship) -> Relationship? {
        let declared = store.schema.entities[relationship.source].relationships
        if declared.indices.contains(relationship.index) {
            let same = declared[relationship.index]
            if same.name == relationship.name, same.storage == relationship.storage { return nil }
        }
        return store.schema.entities[relationship.destination].relationships[relationship.index]
    }

    /// Returns, for each target, the row ids of the objects whose relationship references it: the stored ones with the pending changes applied.
    private func owners(_ forward: Relationship, _ targets: [Int64], _ stored: RelatedIDs) -> RelatedIDs {
        let entityIndex = store.firstEntityIndex + Int32(forward.source)
        let lists = editor.buffer.relationshipChanges.all { $0.entityIndex == entityIndex && $0.relationship == Int32(forward.index) }
        var found = RelatedIDs()
        for target in targets {
            var owners = Set(stored[target])
            for (key, changes) in lists {
                if changes.added.contains(target) { owners.insert(key.rowID) }
                if changes.removed.contains(target) { owners.remove(key.rowID) }
            }
            for owner in owners.sorted() {
                if case .deleted = state(Int(entityIndex), owner) { continue }
                found.add(source: target, target: owner)
            }
        }
        return found
    }

    private enum State {
        /// The object has no pending changes.
        case stored
        case changed(EditState)
        case deleted
    }

    private func state(_ entityIndex: Int, _ id: Int64) -> State {
        if !editor.buffer.hasChanges(of: entityIndex) { return .stored }
        func open<T: Model>(_ type: T.Type) -> State {
            guard let object = editor.context.registered(type, Int32(entityIndex), id) else { return .stored }
            if object.isDeleted { return .deleted }
            return object._$state.edit.map(State.changed) ?? .stored
        }
        return open(editor.context.table.entries[entityIndex].type)
    }
}

extension FetchRequest {
    /// A Boolean value that indicates whether related objects determine the rows of the request or their order.
    var looksAround: Bool { predicate.needsRelated || hasComputedKeys }
}
