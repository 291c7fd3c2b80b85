import PolyStoreBackend

/// What a query reads of other objects than those it selects: after a commit that changed none of it, its answer for unchanged objects is the same.
struct QueryDependencies {
    /// By entity index of the related entities: the fields that are read.
    private(set) var fields: [Int: FieldMask] = [:]
    /// The to-many relationships that are followed.
    private(set) var relationships: Set<Relationship> = []

    var isEmpty: Bool { fields.isEmpty && relationships.isEmpty }

    /// Adds what a condition on an entity reads.
    /// - Parameter entity: the entity; nil for that of the query itself, whose own fields are no dependency.
    mutating func add(_ predicate: QueryPredicate, of entity: Entity? = nil) {
        switch predicate.node {
        case .constant: break
        case .compare(let field, _, _), .isNull(let field), .oneOf(let field, _), .text(let field, _, _): add(field, of: entity)
        case .compareFields(let left, _, let right):
            add(left, of: entity)
            add(right, of: entity)
        case .compareExpressions(let left, _, let right), .textExpressions(let left, _, let right):
            add(left, of: entity)
            add(right, of: entity)
        case .isNullExpression(let expression), .expressionOneOf(let expression, _): add(expression, of: entity)
        case .related(let relationship, _, let part):
            follow(relationship, of: entity)
            add(part, of: relationship.destination)
        case .and(let parts), .or(let parts): for part in parts { add(part, of: entity) }
        case .not(let part): add(part, of: entity)
        }
    }

    /// Adds what an expression reads.
    mutating func add(_ expression: QueryExpression, of entity: Entity? = nil) {
        switch expression.node {
        case .field(let field): add(field, of: entity)
        case .constant: break
        case .related(let relationship, let inner), .aggregate(_, let relationship, let inner):
            follow(relationship, of: entity)
            add(inner, of: relationship.destination)
        case .count(let relationship, let predicate):
            follow(relationship, of: entity)
            add(predicate, of: relationship.destination)
        case .arithmetic(_, let left, let right):
            add(left, of: entity)
            add(right, of: entity)
        case .folded(let inner, _): add(inner, of: entity)
        }
    }

    mutating func add(_ keys: [SortKey]) { for key in keys { if let expression = key.expression { add(expression) } } }

    private mutating func add(_ field: FieldReference, of entity: Entity?) {
        guard let entity else { return }
        if !field.isObjectID { fields[entity.index, default: FieldMask()].insert(field.ordinal) }
    }

    private mutating func follow(_ relationship: RelationshipReference, of entity: Entity?) {
        if let key = relationship.foreignKey { add(key, of: entity) }
        // Of the query's own entity the objects whose relationship changed are evaluated again anyway.
        if relationship.isToMany, entity != nil { relationships.insert(relationship.relationship) }
        // An empty mask: only whether an object is there.
        fields[relationship.destination.index, default: FieldMask()].formUnion(FieldMask())
    }
}
