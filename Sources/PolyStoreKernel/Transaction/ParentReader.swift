import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch

/// A view of the parent transaction including its pending changes, read by a child transaction.
final class ParentReader: ReadTransaction, ServerRecords {
    private let parent: Transaction
    private let store: PersistentStore

    init(_ parent: Transaction, _ store: PersistentStore) {
        self.parent = parent
        self.store = store
    }

    private func entry(_ entity: Entity) -> StoreEntity { parent.entry(store.firstEntityIndex + Int32(entity.index)) }

    private func related() throws -> PendingRelated { PendingRelated(parent.editing, store, try parent.storage(store)) }

    var server: ServerSnapshot? { try? related().server }

    var interruption: Interruption? {
        get { parent.interruption }
        set { parent.interruption = newValue }
    }

    var version: UInt64 { get throws { try parent.storage(store).version } }

    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { try related().record(entity, rowID: rowID) }

    func scan(_ request: FetchRequest) throws -> Scan { Scan(try parent.steadyRows(entry(request.entity), request, FetchOptions())) }

    func count(_ request: FetchRequest) throws -> Int { try parent.count(entry(request.entity), request, FetchOptions()) }

    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        try related().related(relationship, of: sources)
    }

    func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? { try parent.storage(store).statistics(of: condition) }

    func plan(_ request: FetchRequest) throws -> QueryPlan { try parent.storage(store).plan(request) }

    func value(named name: String) throws -> [UInt8]? { try parent.storeValue(named: name, in: store) }
    func valueNames(prefix: String) throws -> [String] { try parent.storeValueNames(prefix: prefix, in: store) }

    func end() {}
}
