import PolyStoreBackend
import PolyStoreKernel
import PolyStoreQuery

/// The dependencies of query results: fields of entities, the existence of their objects, and link tables.
struct RequestDependencies: Sendable {
    /// The fields by the entity index. An empty mask means that only insertions and deletions matter.
    private var fields: [Int32: FieldMask] = [:]
    private var tables: Set<LinkTableKey> = []

    /// Returns whether a commit may change the result.
    func isTouched(by footprint: CommitFootprint) -> Bool {
        if footprint.isUnknown { return true }
        let all = FieldMask(first: FieldMask.capacity)
        for (entityIndex, mask) in footprint.fields {
            guard let mine = fields[entityIndex] else { continue }
            if mask == all || !mask.isDisjoint(with: mine) { return true }
        }
        return !tables.isDisjoint(with: footprint.tables)
    }

    mutating func add(_ request: WatchedTransaction.Request, in store: PersistentStore) {
        switch request {
        case .record(let entity, _): addAll(entity, store)
        case .related(let relationship, _): add(relationship, store)
        case .scan(let request): add(request, readsValues: !request.onlyIDs, store)
        case .search(let condition, _): collect(of: condition.entity, store) { $0.add(.search(condition)) }
        case .count(let request): add(request, readsValues: false, store)
        case .aggregate(let request):
            add(request.source, readsValues: true, store)
            collect(of: request.entity, store) { reads in for aggregate in request.aggregates { aggregate.operand.map { reads.add($0) } } }
        }
    }

    private mutating func add(_ request: FetchRequest, readsValues: Bool, _ store: PersistentStore) {
        let entity = request.entity
        if readsValues {
            guard let read = request.fields else { return addAll(entity, store) }
            fields[entityIndex(entity, store), default: FieldMask()].formUnion(read)
        }
        collect(of: entity, store) { reads in
            reads.add(request.predicate)
            for key in request.sortKeys { reads.add(key.expression ?? .field(key.field)) }
        }
    }

    /// Collects what conditions and expressions on an entity read.
    private mutating func collect(of entity: Entity, _ store: PersistentStore, _ body: (inout Reads) -> Void) {
        var reads = Reads(dependencies: self, entity: entity, store: store)
        self = RequestDependencies()
        body(&reads)
        self = reads.dependencies
    }

    private struct Reads: QueryReads {
        var dependencies: RequestDependencies
        let entity: Entity
        let store: PersistentStore

        init(dependencies: RequestDependencies, entity: Entity, store: PersistentStore) {
            (self.dependencies, self.entity, self.store) = (dependencies, entity, store)
            note(entity)
        }

        /// Adds the existence of the objects of an entity.
        private mutating func note(_ entity: Entity, _ fields: FieldMask = FieldMask()) {
            dependencies.fields[dependencies.entityIndex(entity, store), default: FieldMask()].formUnion(fields)
        }

        mutating func add(_ field: FieldReference, of entity: Entity?) {
            guard !field.isObjectID else { return }
            var mask = FieldMask()
            mask.insert(field.index)
            note(entity ?? self.entity, mask)
        }

        mutating func follow(_ relationship: RelationshipReference, of entity: Entity?) {
            if let key = relationship.foreignKey { add(key, of: entity) }
            dependencies.add(relationship.relationship, store)
            note(relationship.destination)
        }
    }

    private mutating func addAll(_ entity: Entity, _ store: PersistentStore) {
        fields[entityIndex(entity, store)] = FieldMask(first: FieldMask.capacity)
    }

    /// Adds the targets of a relationship.
    private mutating func add(_ relationship: Relationship, _ store: PersistentStore) {
        let source = store.firstEntityIndex + Int32(relationship.source)
        let destination = store.firstEntityIndex + Int32(relationship.destination)
        switch relationship.storage {
        case .foreignKey(let field): fields[source, default: FieldMask()].insert(field)
        case .inverse(let field):
            fields[destination, default: FieldMask()].insert(field)
            if let position = relationship.positionField { fields[destination]?.insert(position) }
        case .link(let table, _): tables.insert(LinkTableKey(store: store.index, table: table))
        }
    }

    private func entityIndex(_ entity: Entity, _ store: PersistentStore) -> Int32 { store.firstEntityIndex + Int32(entity.index) }
}

/// The entities, fields and link tables that commits changed, independent of the number of objects.
struct CommitFootprint {
    /// The changed fields, by the entity index. An insertion or deletion includes all fields.
    private(set) var fields: [Int32: FieldMask] = [:]
    private(set) var tables: Set<LinkTableKey> = []
    /// A Boolean value that indicates whether other data may have changed too.
    var isUnknown = false

    mutating func add(_ commit: Commit) {
        if commit.changesAreUnknown { isUnknown = true }
        for part in commit.parts {
            for change in part.changes.changes {
                let entityIndex = part.store.firstEntityIndex + Int32(change.entity)
                if change.kind == .update {
                    fields[entityIndex, default: FieldMask()].formUnion(change.mask)
                } else {
                    fields[entityIndex] = FieldMask(first: FieldMask.capacity)
                }
            }
            for link in part.changes.links { tables.insert(LinkTableKey(store: part.store.index, table: link.table)) }
            for key in part.relationships {
                let relationship = commit.table.entries[Int(key.entityIndex)].entity.relationships[Int(key.relationship)]
                guard case .link(let table, _) = relationship.storage else { continue }
                tables.insert(LinkTableKey(store: part.store.index, table: table))
            }
        }
    }
}

/// A link table of a store of the stack.
struct LinkTableKey: Hashable, Sendable {
    let store: Int
    let table: Int
}
