import PolyStoreBackend
import PolyStoreKernel

/// A collection of what conditions and expressions read: fields, and relationships that lead to other objects.
protocol QueryReads {
    /// Adds a field.
    /// - Parameter entity: The entity whose object is read; `nil` for the entity of the query.
    mutating func add(_ field: FieldReference, of entity: Entity?)
    /// Adds a relationship of an entity, and the existence of its targets.
    mutating func follow(_ relationship: RelationshipReference, of entity: Entity?)
    /// Adds the number of the objects of an entity, on which scores of full-text searches depend.
    mutating func count(_ entity: Entity)
}

extension QueryReads {
    // The existence of objects is among the fields that are read.
    mutating func count(_ entity: Entity) {}

    /// Adds what a condition on an entity reads.
    mutating func add(_ predicate: QueryPredicate, of entity: Entity? = nil, outer: [Entity?] = []) {
        switch predicate.node {
        case .constant: break
        case .search(let condition): for field in condition.index.fields { add(FieldReference(condition.entity.fields[field]), of: entity) }
        case .compare(let left, _, let right), .text(let left, _, let right):
            add(left, of: entity, outer: outer)
            add(right, of: entity, outer: outer)
        case .isNull(let expression), .oneOf(let expression, _): add(expression, of: entity, outer: outer)
        case .related(let relationship, _, let part):
            follow(relationship, of: entity)
            add(part, of: relationship.destination, outer: outer + [entity])
        case .and(let parts), .or(let parts): for part in parts { add(part, of: entity, outer: outer) }
        case .not(let part): add(part, of: entity, outer: outer)
        }
    }

    /// Adds what an expression reads.
    mutating func add(_ expression: QueryExpression, of entity: Entity? = nil, outer: [Entity?] = []) {
        switch expression.node {
        case .field(let field): add(field, of: entity)
        case .constant: break
        // A score depends on the texts of all objects.
        case .score(let condition):
            for field in condition.index.fields { add(FieldReference(condition.entity.fields[field]), of: condition.entity) }
            count(condition.entity)
        case .related(let relationship, let inner), .aggregate(_, let relationship, let inner), .element(let relationship, _, let inner):
            follow(relationship, of: entity)
            add(inner, of: relationship.destination, outer: outer + [entity])
        case .count(let relationship, let predicate):
            follow(relationship, of: entity)
            add(predicate, of: relationship.destination, outer: outer + [entity])
        case .arithmetic(_, let left, let right):
            add(left, of: entity, outer: outer)
            add(right, of: entity, outer: outer)
        case .folded(let inner, _), .datePart(_, _, let inner), .json(_, let inner): add(inner, of: entity, outer: outer)
        case .function(_, let operands): for operand in operands { add(operand, of: entity, outer: outer) }
        case .conditional(let predicate, let first, let second):
            add(predicate, of: entity, outer: outer)
            add(first, of: entity, outer: outer)
            add(second, of: entity, outer: outer)
        case .outer(let levels, let inner):
            guard levels > 0, levels <= outer.count else { return }
            add(inner, of: outer[outer.count - levels], outer: outer + [entity])
        }
    }
}

/// The data of other objects that a query reads. A commit that changes none of it does not change the result for unchanged objects.
struct QueryDependencies: QueryReads {
    /// The fields that are read, by entity index of the related entities.
    private(set) var fields: [Int: FieldMask] = [:]
    /// The to-many relationships that are read.
    private(set) var relationships: Set<Relationship> = []

    /// The indexes of the entities whose inserted objects change scores.
    private(set) var counted: Set<Int> = []

    var isEmpty: Bool { fields.isEmpty && relationships.isEmpty }

    mutating func count(_ entity: Entity) { counted.insert(entity.index) }

    mutating func add(_ keys: [SortKey]) { for key in keys { if let expression = key.expression { add(expression) } } }

    mutating func add(_ field: FieldReference, of entity: Entity?) {
        // The own fields of the query's entity are not dependencies.
        guard let entity else { return }
        if !field.isObjectID { fields[entity.index, default: FieldMask()].insert(field.index) }
    }

    mutating func follow(_ relationship: RelationshipReference, of entity: Entity?) {
        if let key = relationship.foreignKey { add(key, of: entity) }
        // Objects of the query's own entity with a changed relationship are evaluated again anyway.
        if relationship.isToMany, entity != nil { relationships.insert(relationship.relationship) }
        // An empty mask: only the existence of an object matters.
        fields[relationship.destination.index, default: FieldMask()].formUnion(FieldMask())
    }
}

extension CommittedStep {
    /// Returns whether the step changes data of other objects that a query depends on.
    func touches(_ dependencies: QueryDependencies, in store: PersistentStore) -> Bool {
        if dependencies.isEmpty { return false }
        for relationship in dependencies.relationships {
            let entityIndex = store.firstEntityIndex + Int32(relationship.source)
            if relationships[entityIndex]?.contains(Int32(relationship.index)) ?? false { return true }
        }
        for entity in dependencies.counted {
            for row in rows[store.firstEntityIndex + Int32(entity)] ?? [] where row.wasInserted { return true }
        }
        for (entity, fields) in dependencies.fields {
            for row in rows[store.firstEntityIndex + Int32(entity)] ?? [] where row.wasDeleted || !row.mask.isDisjoint(with: fields) {
                return true
            }
        }
        return false
    }
}
