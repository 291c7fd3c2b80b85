// Validation of requests before execution, so that the evaluators need no further checks.

extension Entity {
    /// Checks that a reference matches a field of the entity and its type.
    func check(_ field: FieldReference) throws {
        if field.isObjectID { return }
        guard field.index < fields.count, fields[field.index].type == field.type else {
            throw StoreError(
                .invalidPredicate, "\(field.name) (\(field.type)) is not a field of \(name).", entity: name, attribute: field.name)
        }
    }

    fileprivate func check(_ relationship: RelationshipReference) throws {
        let relationshipIndex = relationship.relationship.index
        guard relationshipIndex < relationships.count, relationships[relationshipIndex] == relationship.relationship,
            relationship.destination.index == relationship.relationship.destination
        else {
            throw StoreError(
                .invalidPredicate, "\(relationship.name) is not a relationship of \(name).", entity: name, attribute: relationship.name)
        }
    }
}

extension QueryPredicate {
    /// Checks the expression against an entity and the enclosing entities.
    /// - Throws: `invalidPredicate`.
    package func validate(for entity: Entity, outer: [Entity] = []) throws {
        switch node {
        case .constant: break
        case .search(let condition): try entity.check(condition)
        case .compare(let left, _, let right):
            try left.validate(for: entity, outer: outer)
            try right.validate(for: entity, outer: outer)
            if case .field(let field) = left.node, case .constant(let value) = right.node, right.type == field.type {
                try Self.check(left, holds: value, entity)
            }
            guard left.asConstant?.isNull ?? false || right.asConstant?.isNull ?? false || left.type.isComparable(with: right.type) else {
                throw Self.incomparable(left, right, entity)
            }
        case .isNull(let expression): try expression.validate(for: entity, outer: outer)
        case .oneOf(let expression, let values):
            try expression.validate(for: entity, outer: outer)
            for value in values { try Self.check(expression, holds: value, entity) }
        case .text(let left, let operation, let right):
            for side in [left, right] {
                try side.validate(for: entity, outer: outer)
                try Self.checkText(side, operation, entity)
            }
            if operation == .matches {
                guard case .text(let pattern)? = right.asConstant else {
                    throw StoreError(.invalidPredicate, "MATCHES needs a constant regular expression, not \(right).", entity: entity.name)
                }
                _ = try RegularExpression(pattern)
            }
        case .related(let relationship, let quantifier, let part):
            try entity.check(relationship)
            guard !relationship.isToMany || quantifier != .one else {
                throw StoreError(
                    .invalidPredicate, "\(quantifier.rawValue) does not go with \(entity.name).\(relationship.name).", entity: entity.name,
                    attribute: relationship.name)
            }
            try part.validate(for: relationship.destination, outer: outer + [entity])
        case .and(let parts), .or(let parts): for part in parts { try part.validate(for: entity, outer: outer) }
        case .not(let part): try part.validate(for: entity, outer: outer)
        }
    }

    private static func check(_ expression: QueryExpression, holds value: Value, _ entity: Entity) throws {
        guard !value.fits(expression.type) else { return }
        throw StoreError(
            .invalidPredicate, "\(expression) is \(expression.type) and cannot be compared with \(value.literal).", entity: entity.name,
            attribute: expression.asField?.name)
    }

    private static func checkText(_ expression: QueryExpression, _ operation: TextOperator, _ entity: Entity) throws {
        guard expression.type.physical != .text, !(expression.asConstant?.isNull ?? false) else { return }
        throw StoreError(
            .invalidPredicate, "\(operation.rawValue) needs text, and \(expression) is \(expression.type).", entity: entity.name,
            attribute: expression.asField?.name)
    }

    private static func incomparable(_ left: QueryExpression, _ right: QueryExpression, _ entity: Entity) -> StoreError {
        StoreError(
            .invalidPredicate, "\(left) (\(left.type)) cannot be compared with \(right) (\(right.type)).", entity: entity.name,
            attribute: left.asField?.name)
    }
}

extension QueryExpression {
    /// Checks the predicate against an entity and the enclosing entities.
    /// - Throws: `invalidPredicate`.
    package func validate(for entity: Entity, outer: [Entity] = []) throws {
        switch node {
        case .field(let field): try entity.check(field)
        case .constant: break
        case .score(let condition): try entity.check(condition)
        case .related(let relationship, let inner):
            try entity.check(relationship)
            try inner.validate(for: relationship.destination, outer: outer + [entity])
            guard !relationship.isToMany else {
                throw StoreError(
                    .invalidPredicate,
                    "\(entity.name).\(relationship.name) leads to many objects: say which of their values, with ANY, ALL, @count or another operator.",
                    entity: entity.name, attribute: relationship.name)
            }
        case .count(let relationship, let predicate):
            try entity.check(relationship)
            try predicate.validate(for: relationship.destination, outer: outer + [entity])
        case .aggregate(let function, let relationship, let inner):
            try entity.check(relationship)
            try inner.validate(for: relationship.destination, outer: outer + [entity])
            guard function.accepts(inner.type) else {
                throw StoreError(
                    .invalidPredicate, "\(function.rawValue) needs numbers, and \(inner) is \(inner.type).", entity: entity.name)
            }
        case .arithmetic(_, let left, let right):
            try left.validate(for: entity, outer: outer)
            try right.validate(for: entity, outer: outer)
        case .folded(let inner, _):
            try inner.validate(for: entity, outer: outer)
            guard inner.type.physical == .text else {
                throw StoreError(.invalidPredicate, "Only text has case and accents, and \(inner) is \(inner.type).", entity: entity.name)
            }
        case .function(let function, let operands):
            for operand in operands { try operand.validate(for: entity, outer: outer) }
            guard function.type(operands.map(\.type)) != nil else {
                let types = operands.map { "\($0.type)" }.joined(separator: " and ")
                throw StoreError(
                    .invalidPredicate, "\(function.rawValue) takes \(function.operandDescription), not \(types).", entity: entity.name)
            }
        case .datePart(let part, _, let date):
            try date.validate(for: entity, outer: outer)
            guard date.type == .date else {
                throw StoreError(.invalidPredicate, "\(part.rawValue) takes a date, and \(date) is \(date.type).", entity: entity.name)
            }
        case .json(let field, let attribute):
            try attribute.validate(for: entity, outer: outer)
            if let fault = field.refusal(of: attribute) {
                throw StoreError(.invalidPredicate, fault, entity: entity.name, attribute: attribute.asField?.name)
            }
        case .conditional(let predicate, let first, let second):
            try predicate.validate(for: entity, outer: outer)
            try first.validate(for: entity, outer: outer)
            try second.validate(for: entity, outer: outer)
        case .element(let relationship, _, let inner):
            try entity.check(relationship)
            guard relationship.relationship.isOrdered else {
                throw StoreError(
                    .invalidPredicate, "\(entity.name).\(relationship.name) is not ordered, so its members have no positions.",
                    entity: entity.name, attribute: relationship.name)
            }
            try inner.validate(for: relationship.destination, outer: outer + [entity])
        case .outer(let levels, let inner):
            guard levels > 0, levels <= outer.count else {
                throw StoreError(
                    .invalidPredicate, "\(inner) belongs to an object \(levels) levels out, and \(outer.count) enclose this condition.",
                    entity: entity.name)
            }
            try inner.validate(for: outer[outer.count - levels], outer: outer + [entity])
        }
    }
}
