extension Condition {
    /// Looks the names up and gives the constants the types of what they are compared with.
    /// - Parameter store: the id of the store that is asked. Objects of other stores equal none of its objects. Without it, row ids alone are compared.
    /// - Throws: `invalidPredicate` with the place in the format string, naming what is wrong and what there is instead.
    public func resolved(for entity: Entity, in schema: ResolvedSchema, store: String? = nil) throws -> QueryPredicate {
        // Before anything descends into it.
        guard depth(upTo: FetchRequest.maximumDepth + 1) <= FetchRequest.maximumDepth else {
            throw ConditionResolver.tooDeep(.none, entity)
        }
        return try ConditionResolver(schema, store: store).predicate(self, ConditionResolver.Scope(entity: entity, variable: nil), depth: 0)
    }
}

extension PropertyPath {
    /// A value to order or to group by.
    public func expression(for entity: Entity, in schema: ResolvedSchema) throws -> QueryExpression {
        try ConditionResolver(schema).value(self, ConditionResolver.Scope(entity: entity, variable: nil)).expression
    }
}

extension Operand {
    /// A value worked out for each object.
    /// - Returns: the expression and, where its value is an object's id, the object's entity.
    /// - Throws: `invalidPredicate` with the place in the format string.
    public func resolved(for entity: Entity, in schema: ResolvedSchema) throws -> (expression: QueryExpression, target: Entity?) {
        let place = Comparison(self, .equal, .null, location: location)
        guard depth(upTo: FetchRequest.maximumDepth + 1) <= FetchRequest.maximumDepth else {
            throw ConditionResolver.tooDeep(.none, entity)
        }
        let value = try ConditionResolver(schema).value(self, nil, place, ConditionResolver.Scope(entity: entity, variable: nil))
        return (value.expression, value.target)
    }

    /// Where the first name in it stands.
    private var location: FormatLocation {
        switch self {
        case .path(let path), .subquery(let path, _, _): path.location
        case .arithmetic(_, let left, let right): left.location.source == nil ? right.location : left.location
        default: .none
        }
    }
}

extension Condition {
    /// The same condition with other names.
    /// - Throws: what `change` throws; `invalidPredicate` where there are names that cannot be changed: of objects in a subquery, or resolved ones.
    public func renamed(_ change: (PropertyPath) throws -> PropertyPath) throws -> Condition {
        guard depth(upTo: FetchRequest.maximumDepth + 1) <= FetchRequest.maximumDepth else {
            throw StoreError(.invalidPredicate, "The condition is nested too deeply; \(FetchRequest.maximumDepth) levels are the limit.")
        }
        return try renamedWithinLimit(change)
    }

    private func renamedWithinLimit(_ change: (PropertyPath) throws -> PropertyPath) throws -> Condition {
        switch self {
        case .constant: return self
        case .comparison(var comparison):
            comparison.left = try comparison.left.renamed(change)
            comparison.right = try comparison.right.renamed(change)
            return .comparison(comparison)
        case .and(let parts): return .and(try parts.map { try $0.renamedWithinLimit(change) })
        case .or(let parts): return .or(try parts.map { try $0.renamedWithinLimit(change) })
        case .not(let part): return .not(try part.renamedWithinLimit(change))
        case .resolved: throw StoreError(.invalidPredicate, "\(self) is about objects, and here values of groups are asked about.")
        }
    }
}

extension Operand {
    fileprivate func renamed(_ change: (PropertyPath) throws -> PropertyPath) throws -> Operand {
        switch self {
        case .path(let path): return .path(try change(path))
        case .constant, .object: return self
        case .list(let elements): return .list(try elements.map { try $0.renamed(change) })
        case .arithmetic(let operation, let left, let right):
            return .arithmetic(operation, try left.renamed(change), try right.renamed(change))
        case .subquery(let path, _, _):
            throw path.location.error("A SUBQUERY is about objects, and here values of groups are asked about.")
        }
    }
}

/// Turns what people write into what stores know.
struct ConditionResolver {
    let schema: ResolvedSchema
    /// The id of the store that is asked; nil: row ids alone are compared.
    let store: String?

    init(_ schema: ResolvedSchema, store: String? = nil) {
        self.schema = schema
        self.store = store
    }

    /// Whose properties names are.
    struct Scope {
        let entity: Entity
        /// Of a subquery: what stands for its object.
        let variable: String?
    }

    /// A value and, where it is an object, of which entity.
    struct ResolvedValue {
        let expression: QueryExpression
        var target: Entity?
        /// Whether it is an object of another store than the one that is asked.
        var isForeign = false
    }

    /// - Parameter depth: how deeply the condition is nested itself.
    func predicate(_ condition: Condition, _ scope: Scope, depth: Int) throws -> QueryPredicate {
        switch condition {
        case .constant(let value): return .constant(value)
        case .resolved(let predicate): return predicate
        case .and(let parts): return .and(try parts.map { try predicate($0, scope, depth: depth + 1) })
        case .or(let parts): return .or(try parts.map { try predicate($0, scope, depth: depth + 1) })
        case .not(let part): return .not(try predicate(part, scope, depth: depth + 1))
        case .comparison(let comparison):
            let found = try predicate(comparison, scope)
            // What the request would refuse without its place in the format string.
            let limit = FetchRequest.maximumDepth - depth
            guard found.depth(upTo: limit + 1) <= limit else { throw Self.tooDeep(comparison.location, scope.entity) }
            return found
        }
    }

    static func tooDeep(_ location: FormatLocation, _ entity: Entity) -> StoreError {
        location.error("The condition is nested too deeply; \(FetchRequest.maximumDepth) levels are the limit.", entity: entity.name)
    }

    // MARK: Comparisons

    private func predicate(_ comparison: Comparison, _ scope: Scope) throws -> QueryPredicate {
        // `%@ IN friends`, and `friends CONTAINS %@`, ask whether an object is among others.
        if comparison.modifier == .direct {
            if comparison.operation == .oneOf, let path = try toManyPath(comparison.right, scope) {
                return try among(comparison.left, path, comparison, scope)
            }
            if comparison.operation == .contains, let path = try toManyPath(comparison.left, scope) {
                return try among(comparison.right, path, comparison, scope)
            }
        }
        if let path = try toManyPath(comparison.left, scope) {
            guard comparison.modifier != .direct else {
                throw path.location.error(
                    "\"\(path.keys.joined(separator: "."))\" leads to many objects: put ANY, ALL or NONE in front, or ask for its @count.",
                    entity: scope.entity.name, attribute: path.keys.last)
            }
            return try quantified(comparison.modifier, path.keys[...], path, scope) { value in
                try asked(value, comparison, comparison.right, Scope(entity: scope.entity, variable: scope.variable), isInside: true)
            }
        }
        if comparison.modifier != .direct {
            guard let path = try toOnePath(comparison.left, scope) else {
                throw comparison.location.error(
                    "\(comparison.modifier.rawValue) needs a path over a relationship, and there is none on the left.",
                    entity: scope.entity.name)
            }
            return try quantified(comparison.modifier, path.keys[...], path, scope) { value in
                try asked(value, comparison, comparison.right, scope, isInside: true)
            }
        }
        // What has a type goes to the left: constants take theirs from it.
        if comparison.left.isConstant, !comparison.right.isConstant, let mirrored = comparison.mirrored {
            return try asked(try value(mirrored.left, nil, mirrored, scope), mirrored, mirrored.right, scope, isInside: false)
        }
        return try asked(try value(comparison.left, nil, comparison, scope), comparison, comparison.right, scope, isInside: false)
    }

    private func among(_ wanted: Operand, _ path: PropertyPath, _ comparison: Comparison, _ scope: Scope) throws -> QueryPredicate {
        var equality = comparison
        equality.operation = .equal
        return try quantified(.any, path.keys[...], path, scope) { value in
            try asked(value, equality, wanted, scope, isInside: true)
        }
    }

    /// The condition on the objects at the end of a path, told of as many as a modifier says.
    private func quantified(
        _ modifier: Comparison.Modifier, _ keys: ArraySlice<String>, _ path: PropertyPath, _ scope: Scope,
        _ leaf: (ResolvedValue) throws -> QueryPredicate
    ) throws -> QueryPredicate {
        let leadsToMany = isToMany(keys, scope.entity)
        func walk(_ keys: ArraySlice<String>, _ entity: Entity) throws -> QueryPredicate {
            // Behind the last step to many there is one value. A path over relationships to one is followed to its end.
            guard let key = keys.first, let relationship = entity.relationship(named: key),
                isToMany(keys, entity) || !leadsToMany && !relationship.isToMany
            else {
                return try leaf(try value(PropertyPath(Array(keys), location: path.location), Scope(entity: entity, variable: nil)))
            }
            let reference = RelationshipReference(relationship, in: schema)
            let inner = try walk(keys.dropFirst(), reference.destination)
            return .related(reference, modifier == .all ? .all : .any, inner)
        }
        let found = try walk(keys, scope.entity)
        return modifier == .none ? .not(found) : found
    }

    /// - Parameter isInside: whether the value is of an object that a path leads to; nothing of the outer one can be compared with it.
    private func asked(
        _ value: ResolvedValue, _ comparison: Comparison, _ operand: Operand, _ scope: Scope, isInside: Bool
    ) throws -> QueryPredicate {
        if isInside, !operand.isConstant {
            throw comparison.location.error(
                "The objects of a path can only be compared with constants: \(operand) belongs to another object. A SUBQUERY may say it.",
                entity: scope.entity.name)
        }
        let left = folded(value.expression, comparison.options)
        switch comparison.operation {
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
            return try compared(value, left, comparison, operand, scope)
        case .oneOf: return try oneOf(value, left, comparison, operand, scope)
        case .between:
            guard case .list(let bounds) = operand, bounds.count == 2 else {
                throw comparison.location.error("BETWEEN needs a list of two: {least, greatest}.", entity: scope.entity.name)
            }
            var (low, high) = (comparison, comparison)
            (low.operation, high.operation) = (.greaterOrEqual, .lessOrEqual)
            return .and([
                try compared(value, left, low, bounds[0], scope), try compared(value, left, high, bounds[1], scope),
            ])
        case .contains, .beginsWith, .endsWith, .like, .matches: return try text(value, comparison, operand, scope)
        }
    }

    private func compared(
        _ value: ResolvedValue, _ left: QueryExpression, _ comparison: Comparison, _ operand: Operand, _ scope: Scope
    ) throws -> QueryPredicate {
        let operation = comparison.operation.ordering
        if case .constant(.null, _) = operand {
            switch operation {
            case .equal: return .isNull(value.expression)
            case .notEqual: return .not(.isNull(value.expression))
            default: return .compare(left, operation, .constant(.null, left.type))
            }
        }
        let right = try self.value(operand, value, comparison, scope)
        try checkComparable(value, right, comparison, scope)
        if value.isForeign || right.isForeign {
            return try comparedWithForeign(left, comparison, isSame: value.isForeign && comparison.left == operand, scope)
        }
        return Self.comparison(left, operation, folded(right.expression, comparison.options))
    }

    /// An object of another store is not equal to any object of this one, and has no order among them. Without an object the answer is unknown, as always.
    private func comparedWithForeign(
        _ left: QueryExpression, _ comparison: Comparison, isSame: Bool, _ scope: Scope
    ) throws -> QueryPredicate {
        switch comparison.operation.ordering {
        case .equal: return isSame ? .all : .oneOf(left, [])
        case .notEqual: return isSame ? .none : .not(.oneOf(left, []))
        default:
            throw comparison.location.error(
                "\(comparison.operation.rawValue) cannot compare objects of different stores, which have no order. Compare an attribute.",
                entity: scope.entity.name)
        }
    }

    /// With reals brought to whole numbers where integers are compared with them: an index can then serve.
    private static func comparison(
        _ left: QueryExpression, _ operation: ComparisonOperator, _ right: QueryExpression
    ) -> QueryPredicate {
        guard left.type.isNumber, left.type.physical == .integer, left.type != .uint64, case .real(let real)? = right.asConstant else {
            return .compare(left, operation, right)
        }
        if let whole = Int64(exactly: real) { return .compare(left, operation, .constant(.integer(whole), .int64)) }
        guard let below = Int64(exactly: real.rounded(.down)) else { return .compare(left, operation, right) }
        switch operation {
        case .greater, .greaterOrEqual: return .compare(left, .greater, .constant(.integer(below), .int64))
        case .less, .lessOrEqual: return .compare(left, .lessOrEqual, .constant(.integer(below), .int64))
        case .equal, .notEqual: return .compare(left, operation, right)
        }
    }

    private func oneOf(
        _ value: ResolvedValue, _ left: QueryExpression, _ comparison: Comparison, _ operand: Operand, _ scope: Scope
    ) throws -> QueryPredicate {
        guard case .list(let elements) = operand else {
            throw comparison.location.error(
                "IN needs a list, {1, 2, 3} or %@ with one, or a path to many objects.", entity: scope.entity.name)
        }
        var constants: [Value] = []
        var others: [QueryPredicate] = []
        var equality = comparison
        equality.operation = .equal
        for element in elements {
            if case .constant(.null, _) = element { continue }
            let right = try self.value(element, value, comparison, scope)
            try checkComparable(value, right, comparison, scope)
            if value.isForeign || right.isForeign {
                if value.isForeign, comparison.left == element { return .all }
                continue
            }
            let expression = folded(right.expression, comparison.options)
            if let constant = expression.asConstant, constant.fits(left.type), expression.type.isUnsigned == left.type.isUnsigned {
                constants.append(constant)
            } else {
                others.append(Self.comparison(left, .equal, expression))
            }
        }
        // A list of nothing asks of null what it asks of a value.
        return .or((constants.isEmpty && !others.isEmpty ? [] : [.oneOf(left, constants)]) + others)
    }

    private func text(_ value: ResolvedValue, _ comparison: Comparison, _ operand: Operand, _ scope: Scope) throws -> QueryPredicate {
        guard value.expression.type.physical == .text, value.target == nil else {
            throw comparison.location.error(
                "\(comparison.operation.rawValue) needs text, and \(value.expression) is \(description(of: value)).",
                entity: scope.entity.name,
                attribute: value.expression.asField?.name)
        }
        let right = try self.value(operand, value, comparison, scope)
        guard right.expression.type.physical == .text || right.expression.asConstant?.isNull ?? false else {
            throw comparison.location.error(
                "\(comparison.operation.rawValue) needs text on its right too, and \(right.expression) is \(description(of: right)).",
                entity: scope.entity.name)
        }
        if comparison.operation == .matches { return try matches(value.expression, right.expression, comparison, scope) }
        let operation = comparison.operation.textOperator ?? .contains
        return .text(folded(value.expression, comparison.options), operation, folded(right.expression, comparison.options))
    }

    /// A regular expression is not folded, as that could turn it into another: case is left to it, marks are taken from the text.
    private func matches(
        _ left: QueryExpression, _ right: QueryExpression, _ comparison: Comparison, _ scope: Scope
    ) throws -> QueryPredicate {
        if right.asConstant?.isNull ?? false { return .text(left, .matches, right) }
        guard case .text(let text)? = right.asConstant else {
            throw comparison.location.error("MATCHES needs a constant regular expression, not \(right).", entity: scope.entity.name)
        }
        let pattern = (comparison.options.contains(.caseInsensitive) ? "(?i)" : "") + text
        do {
            _ = try RegularExpression(pattern)
        } catch let error as StoreError {
            throw comparison.location.error(error.message, entity: scope.entity.name, attribute: left.asField?.name)
        }
        return .text(.folded(left, comparison.options.intersection(.diacriticInsensitive)), .matches, .constant(.text(pattern), .string))
    }

    /// Only text has case and marks; of everything else the options mean nothing.
    private func folded(_ expression: QueryExpression, _ options: TextOptions) -> QueryExpression {
        expression.type.physical == .text ? .folded(expression, options) : expression
    }

    private func checkComparable(_ left: ResolvedValue, _ right: ResolvedValue, _ comparison: Comparison, _ scope: Scope) throws {
        if let first = left.target, let second = right.target, first != second {
            throw comparison.location.error(
                "\(left.expression) is \(first.name) and cannot be compared with \(second.name).", entity: scope.entity.name)
        }
        let isNull = left.expression.asConstant?.isNull ?? false || right.expression.asConstant?.isNull ?? false
        guard isNull || (left.target == nil) == (right.target == nil) && left.expression.type.isComparable(with: right.expression.type)
        else {
            throw comparison.location.error(
                "\(left.expression) is \(description(of: left)) and cannot be compared with \(right.expression), \(description(of: right)).",
                entity: scope.entity.name, attribute: left.expression.asField?.name)
        }
    }

    func description(of value: ResolvedValue) -> String { value.target.map { "an object of \($0.name)" } ?? "\(value.expression.type)" }
}

extension AttributeType {
    var isUnsigned: Bool { self == .uint64 }
}

extension Condition {
    /// Whether it compares with objects, told by their ids. Subqueries are not searched.
    public var namesObjects: Bool {
        switch self {
        case .constant, .resolved: false
        case .comparison(let comparison): comparison.left.namesObjects || comparison.right.namesObjects
        case .and(let parts), .or(let parts): parts.contains(where: \.namesObjects)
        case .not(let part): part.namesObjects
        }
    }
}

extension Operand {
    fileprivate var namesObjects: Bool {
        switch self {
        case .path, .constant, .subquery: false
        case .object: true
        case .list(let elements): elements.contains(where: \.namesObjects)
        case .arithmetic(_, let left, let right): left.namesObjects || right.namesObjects
        }
    }

    /// Whether it means the same for every object.
    var isConstant: Bool {
        switch self {
        case .path, .subquery: false
        case .constant, .object: true
        case .list(let elements): elements.allSatisfy(\.isConstant)
        case .arithmetic(_, let left, let right): left.isConstant && right.isConstant
        }
    }
}

extension Comparison {
    /// The same with both sides changed over; nil where the operator does not allow it.
    var mirrored: Comparison? {
        guard let operation = Operator(rawValue: operation.ordering.mirrored.rawValue), self.operation.isOrdering else { return nil }
        return Comparison(right, operation, left, modifier: modifier, options: options, location: location)
    }
}

extension Comparison.Operator {
    var isOrdering: Bool { ComparisonOperator(rawValue: rawValue) != nil }
    /// Of the first six.
    var ordering: ComparisonOperator { ComparisonOperator(rawValue: rawValue) ?? .equal }
    var textOperator: TextOperator? { TextOperator(rawValue: rawValue) }
}
