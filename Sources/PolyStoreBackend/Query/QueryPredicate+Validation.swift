// What a caller can get wrong, found before anything is read: what is read is read without further checks.

extension Entity {
    /// That a reference leads to a field of the entity and knows its type.
    func check(_ field: FieldReference) throws {
        if field.isObjectID { return }
        guard field.ordinal < fields.count, fields[field.ordinal].type == field.type else {
            throw StoreError(
                .invalidPredicate, "\(field.name) (\(field.type)) is no field of \(name).", entity: name, attribute: field.name)
        }
    }

    fileprivate func check(_ relationship: RelationshipReference) throws {
        let ordinal = relationship.relationship.ordinal
        guard ordinal < relationships.count, relationships[ordinal] == relationship.relationship,
            relationship.destination.index == relationship.relationship.destination
        else {
            throw StoreError(
                .invalidPredicate, "\(relationship.name) is no relationship of \(name).", entity: name, attribute: relationship.name)
        }
    }
}

extension QueryPredicate {
    /// - Throws: `invalidPredicate`.
    func validate(for entity: Entity) throws {
        switch node {
        case .constant: break
        case .isNull(let field): try entity.check(field)
        case .compare(let field, _, let value):
            try entity.check(field)
            try Self.check(field, holds: value, entity)
        case .compareFields(let left, _, let right):
            try entity.check(left)
            try entity.check(right)
            guard left.type.physical == right.type.physical, left.isUnsigned == right.isUnsigned else {
                throw Self.incomparable(.field(left), .field(right), entity)
            }
        case .oneOf(let field, let values):
            try entity.check(field)
            for value in values { try Self.check(field, holds: value, entity) }
        case .text(let field, let operation, let pattern):
            try entity.check(field)
            try Self.checkText(.field(field), operation, entity)
            if operation == .matches { _ = try RegularExpression(pattern) }
        case .compareExpressions(let left, _, let right):
            try left.validate(for: entity)
            try right.validate(for: entity)
            guard left.asConstant?.isNull ?? false || right.asConstant?.isNull ?? false || left.type.isComparable(with: right.type) else {
                throw Self.incomparable(left, right, entity)
            }
        case .isNullExpression(let expression): try expression.validate(for: entity)
        case .expressionOneOf(let expression, let values):
            try expression.validate(for: entity)
            for value in values where !value.fits(expression.type) {
                throw StoreError(
                    .invalidPredicate, "\(expression) is \(expression.type) and cannot be compared with \(value.literal).",
                    entity: entity.name)
            }
        case .textExpressions(let left, let operation, let right):
            for side in [left, right] {
                try side.validate(for: entity)
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
            try part.validate(for: relationship.destination)
        case .and(let parts), .or(let parts): for part in parts { try part.validate(for: entity) }
        case .not(let part): try part.validate(for: entity)
        }
    }

    private static func check(_ field: FieldReference, holds value: Value, _ entity: Entity) throws {
        guard !value.fits(field.type) else { return }
        throw StoreError(
            .invalidPredicate, "\(field.name) is \(field.type) and cannot be compared with \(value.literal).", entity: entity.name,
            attribute: field.name)
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
    /// - Throws: `invalidPredicate`.
    func validate(for entity: Entity) throws {
        switch node {
        case .field(let field): try entity.check(field)
        case .constant: break
        case .related(let relationship, let inner):
            try entity.check(relationship)
            try inner.validate(for: relationship.destination)
            guard !relationship.isToMany else {
                throw StoreError(
                    .invalidPredicate,
                    "\(entity.name).\(relationship.name) leads to many objects: say which of their values, with ANY, ALL, @count or another operator.",
                    entity: entity.name, attribute: relationship.name)
            }
        case .count(let relationship, let predicate):
            try entity.check(relationship)
            try predicate.validate(for: relationship.destination)
        case .aggregate(let function, let relationship, let inner):
            try entity.check(relationship)
            try inner.validate(for: relationship.destination)
            guard !function.needsNumbers || inner.type.isNumber else {
                throw StoreError(
                    .invalidPredicate, "\(function.rawValue) needs numbers, and \(inner) is \(inner.type).", entity: entity.name)
            }
        case .arithmetic(_, let left, let right):
            try left.validate(for: entity)
            try right.validate(for: entity)
        case .folded(let inner, _):
            try inner.validate(for: entity)
            guard inner.type.physical == .text else {
                throw StoreError(.invalidPredicate, "Only text has case and accents, and \(inner) is \(inner.type).", entity: entity.name)
            }
        }
    }
}
