import PolyStoreBackend
import PolyStoreKernel

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
        case .count(let request): add(request, readsValues: false, store)
        case .aggregate(let request):
            add(request.source, readsValues: true, store)
            for aggregate in request.aggregates { aggregate.operand.map { add($0, of: request.entity, store) } }
        }
    }

    private mutating func add(_ request: FetchRequest, readsValues: Bool, _ store: PersistentStore) {
        let entity = request.entity
        if readsValues {
            guard let read = request.fields else { return addAll(entity, store) }
            fields[entityIndex(entity, store), default: FieldMask()].formUnion(read)
        }
        add(request.predicate, of: entity, store)
        for key in request.sortKeys {
            if let expression = key.expression {
                add(expression, of: entity, store)
            } else if !key.field.isObjectID {
                fields[entityIndex(entity, store), default: FieldMask()].insert(key.field.index)
            }
        }
    }

    private mutating func addAll(_ entity: Entity, _ store: PersistentStore) {
        fields[entityIndex(entity, store)] = FieldMask(first: FieldMask.capacity)
    }

    private mutating func add(_ predicate: QueryPredicate, of entity: Entity, outer: [Entity] = [], _ store: PersistentStore) {
        predicate.collectFields(into: &fields[entityIndex(entity, store), default: FieldMask()])
        switch predicate.node {
        case .related(let relationship, _, let inner):
            add(relationship.relationship, store)
            add(inner, of: relationship.destination, outer: outer + [entity], store)
        case .compare(let left, _, let right), .text(let left, _, let right):
            add(left, of: entity, outer: outer, store)
            add(right, of: entity, outer: outer, store)
        case .isNull(let expression), .oneOf(let expression, _): add(expression, of: entity, outer: outer, store)
        case .and(let parts), .or(let parts): for part in parts { add(part, of: entity, outer: outer, store) }
        case .not(let part): add(part, of: entity, outer: outer, store)
        default: break
        }
    }

    private mutating func add(_ expression: QueryExpression, of entity: Entity, outer: [Entity] = [], _ store: PersistentStore) {
        expression.collectFields(into: &fields[entityIndex(entity, store), default: FieldMask()])
        switch expression.node {
        case .related(let relationship, let inner), .aggregate(_, let relationship, let inner), .element(let relationship, _, let inner):
            add(relationship.relationship, store)
            add(inner, of: relationship.destination, outer: outer + [entity], store)
        case .count(let relationship, let predicate):
            add(relationship.relationship, store)
            add(predicate, of: relationship.destination, outer: outer + [entity], store)
        case .arithmetic(_, let left, let right):
            add(left, of: entity, outer: outer, store)
            add(right, of: entity, outer: outer, store)
        case .folded(let inner, _): add(inner, of: entity, outer: outer, store)
        case .function(_, let operands): for operand in operands { add(operand, of: entity, outer: outer, store) }
        case .conditional(let predicate, let first, let second):
            add(predicate, of: entity, outer: outer, store)
            add(first, of: entity, outer: outer, store)
            add(second, of: entity, outer: outer, store)
        case .outer(let levels, let inner):
            guard levels > 0, levels <= outer.count else { return }
            add(inner, of: outer[outer.count - levels], outer: outer + [entity], store)
        case .field, .constant: break
        }
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
