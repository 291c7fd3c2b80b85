import PolyStoreBackend

extension Condition {
    /// Resolves the names against the schema and converts constants to the types that they are compared with.
    /// - Parameter store: the id of the queried store. Objects of other stores are not equal to any of its objects. If nil, only row ids are compared.
    /// - Parameter cases: returns why a constant is not a valid value of an enumeration attribute; nil if it is valid.
    /// - Throws: `invalidPredicate` with the position in the format string, the problem, and the valid alternatives.
    package func resolved(
        for entity: Entity, in schema: ResolvedSchema, store: String? = nil, cases: ((Entity, FieldReference, Value) -> String?)? = nil
    ) throws -> QueryPredicate {
        // The depth is checked before anything recurses into the condition.
        guard depth(upTo: FetchRequest.maximumDepth + 1) <= FetchRequest.maximumDepth else {
            throw ConditionResolver.tooDeep(.none, entity)
        }
        return try ConditionResolver(schema, store: store, cases: cases).predicate(self, ConditionResolver.Scope(entity), depth: 0)
    }
}

extension PropertyPath {
    /// Resolves the path to a value to sort by.
    ///
    /// A path that does not begin with a property can also be an expression in the grammar of format strings: `year(born)`.
    package func expression(for entity: Entity, in schema: ResolvedSchema) throws -> QueryExpression {
        if variable == nil, let first = keys.first, first.contains("("), entity.field(named: first) == nil,
            entity.relationship(named: first) == nil
        {
            return try Operand(format: keys.joined(separator: ".")).resolved(for: entity, in: schema).expression
        }
        let (resolver, scope) = (ConditionResolver(schema), ConditionResolver.Scope(entity))
        return try resolver.closed(try resolver.value(self, scope), location, scope).expression
    }

    /// Returns whether the value of a path of a number is 0, as a Boolean value.
    package func isZero(for entity: Entity, in schema: ResolvedSchema) throws -> QueryExpression {
        let isZero = QueryPredicate.compare(try expression(for: entity, in: schema), .equal, .constant(.integer(0), .int64))
        let (yes, no) = (QueryExpression.constant(.integer(1), .bool), QueryExpression.constant(.integer(0), .bool))
        // The two have one type.
        return .conditional(isZero, yes, no) ?? no
    }
}

extension Operand {
    /// Resolves an operand to a value that is evaluated for each object.
    /// - Returns: the expression and, if its value is an object id, the entity of the object.
    /// - Throws: `invalidPredicate` with the position in the format string.
    package func resolved(for entity: Entity, in schema: ResolvedSchema) throws -> (expression: QueryExpression, target: Entity?) {
        let comparison = Comparison(self, .equal, .null, location: location)
        guard depth(upTo: FetchRequest.maximumDepth + 1) <= FetchRequest.maximumDepth else {
            throw ConditionResolver.tooDeep(.none, entity)
        }
        let (resolver, scope) = (ConditionResolver(schema), ConditionResolver.Scope(entity))
        let value = try resolver.closed(try resolver.value(self, nil, comparison, scope), comparison.location, scope)
        return (value.expression, value.target)
    }

    /// The location of the first name in the operand.
    private var location: FormatLocation {
        switch self {
        case .path(let path), .subquery(let path, _, _, _): path.location
        case .score(.comparison(let search)): search.location
        case .arithmetic(_, let left, let right), .conditional(_, let left, let right):
            left.location.source == nil ? right.location : left.location
        case .function(_, let operands): operands.first { $0.location.source != nil }?.location ?? .none
        case .cast(let inner, _), .datePart(_, let inner, _): inner.location
        default: .none
        }
    }
}

/// Resolves names and constants against a schema.
package struct ConditionResolver {
    let schema: ResolvedSchema
    /// The id of the queried store. An object of another store equals none of its objects. If nil, objects are compared by row id alone.
    let store: String?
    /// Returns why a constant is not a valid value of an enumeration attribute; nil if it is valid.
    let cases: ((Entity, FieldReference, Value) -> String?)?

    package init(_ schema: ResolvedSchema, store: String? = nil, cases: ((Entity, FieldReference, Value) -> String?)? = nil) {
        self.schema = schema
        self.store = store
        self.cases = cases
    }

    /// The entity against which names are resolved.
    package struct Scope {
        let entity: Entity
        /// The variable that paths from the object begin with; nil for the fetched object.
        var variable: String?
        /// A Boolean value that indicates whether paths can begin at the object.
        var isNamed = true
        /// The enclosing scopes, each without its own `outer`; the nearest is last.
        private(set) var outer: [Scope] = []

        package init(_ entity: Entity, variable: String? = nil, isNamed: Bool = true) {
            self.entity = entity
            self.variable = variable
            self.isNamed = isNamed
        }

        /// Returns the scope of an object at the destination of a relationship of this scope's object.
        func below(_ entity: Entity, variable: String?, isNamed: Bool) -> Scope {
            var scope = Scope(entity, variable: variable, isNamed: isNamed)
            var own = self
            own.outer = []
            scope.outer = outer + [own]
            return scope
        }

        /// Returns the scope in which a variable is declared, and how many levels out it is.
        func named(_ variable: String?) -> (levels: Int, scope: Scope)? {
            if isNamed, self.variable == variable { return (0, self) }
            for levels in 1..<max(1, outer.count + 1) {
                let found = outer[outer.count - levels]
                if found.isNamed, found.variable == variable { return (levels, below(found.entity, variable: variable, isNamed: true)) }
            }
            return nil
        }
    }

    /// A resolved value and, if it is an object, its entity.
    package struct ResolvedValue {
        package let expression: QueryExpression
        package var target: Entity?
        /// A Boolean value that indicates whether the object belongs to another store.
        var isForeign = false
        /// The attribute that provides the value, and its entity.
        var field: FieldReference?
        var owner: Entity?
        /// A Boolean value that indicates whether this is a field of JSON whose type is not known.
        var isOpen = false
    }

    /// - Parameter depth: the nesting depth of the condition itself.
    func predicate(_ condition: Condition, _ scope: Scope, depth: Int) throws -> QueryPredicate {
        switch condition {
        case .constant(let value): return .constant(value)
        case .resolved(let predicate): return predicate
        case .and(let parts): return .and(try parts.map { try predicate($0, scope, depth: depth + 1) })
        case .or(let parts): return .or(try parts.map { try predicate($0, scope, depth: depth + 1) })
        case .not(let part): return .not(try predicate(part, scope, depth: depth + 1))
        case .comparison(let comparison):
            let found = try predicate(comparison, scope)
            // The request would report the same error without the position in the format string.
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
        // `%@ IN friends` and `friends CONTAINS %@` test membership in a relationship.
        if comparison.modifier == .direct {
            if comparison.operation == .oneOf, let many = try toManyPath(comparison.right, scope) {
                return try among(comparison.left, many, comparison, scope)
            }
            if comparison.operation == .text(.contains), let many = try toManyPath(comparison.left, scope) {
                return try among(comparison.right, many, comparison, scope)
            }
        }
        if let many = try toManyPath(comparison.left, scope) {
            guard comparison.modifier != .direct else {
                throw many.path.location.error(
                    "\"\(many.path.keys.joined(separator: "."))\" leads to many objects: put ANY, ALL or NONE in front, or ask for its @count.",
                    entity: scope.entity.name, attribute: many.path.keys.last)
            }
            return try quantified(comparison.modifier, many) { try asked($0, comparison, comparison.right, $1) }
        }
        if comparison.modifier != .direct {
            guard let one = try toOnePath(comparison.left, scope) else {
                throw comparison.location.error(
                    "\(comparison.modifier.rawValue) needs a path over a relationship, and there is none on the left.",
                    entity: scope.entity.name)
            }
            return try quantified(comparison.modifier, one) { try asked($0, comparison, comparison.right, $1) }
        }
        // The typed operand moves to the left, because constants take its type.
        if comparison.left.isConstant, !comparison.right.isConstant, let mirrored = comparison.mirrored {
            return try asked(try value(mirrored.left, nil, mirrored, scope), mirrored, mirrored.right, scope)
        }
        return try asked(try value(comparison.left, nil, comparison, scope), comparison, comparison.right, scope)
    }

    private func among(_ wanted: Operand, _ many: LocatedPath, _ comparison: Comparison, _ scope: Scope) throws -> QueryPredicate {
        var equality = comparison
        equality.operation = .equal
        return try quantified(.any, many) { try asked($0, equality, wanted, $1) }
    }

    /// Returns a quantified condition on the objects at the end of a path.
    /// - Parameter leaf: makes the condition on a value of one of these objects, in the scope of the object.
    private func quantified(
        _ modifier: Comparison.Modifier, _ many: LocatedPath, _ leaf: (ResolvedValue, Scope) throws -> QueryPredicate
    ) throws -> QueryPredicate {
        let path = many.path
        let leadsToMany = isToMany(path.keys[...], many.scope.entity)
        func walk(_ keys: ArraySlice<String>, _ scope: Scope) throws -> QueryPredicate {
            // After the last to-many step there is a single value. A path of to-one relationships is followed to its end.
            guard let key = keys.first, let relationship = scope.entity.relationship(named: key),
                isToMany(keys, scope.entity) || !leadsToMany && !relationship.isToMany
            else {
                return try leaf(try value(keys, scope.entity, path), scope)
            }
            guard !relationship.isToMany || !(keys.dropFirst().first.map(PropertyPath.isPosition) ?? false) else {
                throw path.location.error(
                    "\(modifier.rawValue) cannot follow a position to many objects. Write a SUBQUERY for the objects behind it.",
                    entity: scope.entity.name)
            }
            let reference = RelationshipReference(relationship, in: schema)
            let inner = try walk(keys.dropFirst(), scope.below(reference.destination, variable: nil, isNamed: false))
            return .related(reference, modifier == .all ? .all : .any, inner)
        }
        let found = try walk(path.keys[...], many.scope)
        let condition = modifier == .none ? QueryPredicate.not(found) : found
        return many.levels == 0 ? condition : asked(condition, levels: many.levels)
    }

    /// Returns a condition that is evaluated on an enclosing object.
    func asked(_ condition: QueryPredicate, levels: Int) -> QueryPredicate {
        let (yes, no) = (QueryExpression.constant(.integer(1), .int64), QueryExpression.constant(.integer(0), .int64))
        guard let truth = QueryExpression.conditional(condition, yes, no) else { return .none }
        return .compare(.outer(levels, truth), .equal, yes)
    }

    private func asked(
        _ value: ResolvedValue, _ comparison: Comparison, _ operand: Operand, _ scope: Scope
    ) throws -> QueryPredicate {
        if comparison.isSearch { return try search(value, comparison, scope) }
        if case .text(.contains) = comparison.operation,
            let found = try membership(of: operand, in: value, comparison.left, comparison, scope)
        {
            return found
        }
        let value = try typed(value, for: comparison, operand, scope)
        let left = folded(value.expression, comparison.options)
        switch comparison.operation {
        case .comparison(let operation): return try compared(value, left, operation, comparison, operand, scope)
        case .oneOf:
            if case .range(let low, let high, let includesHigh) = operand {
                return try within(value, left, comparison, low, high, includesHigh: includesHigh, scope)
            }
            return try oneOf(value, left, comparison, operand, scope)
        case .between:
            switch operand {
            case .range(let low, let high, let includesHigh):
                return try within(value, left, comparison, low, high, includesHigh: includesHigh, scope)
            case .list(let bounds) where bounds.count == 2:
                return try within(value, left, comparison, bounds[0], bounds[1], includesHigh: true, scope)
            default: throw comparison.location.error("BETWEEN needs a list of two: {least, greatest}.", entity: scope.entity.name)
            }
        case .text(let operation): return try text(value, operation, comparison, operand, scope)
        case .search: return try search(value, comparison, scope)
        }
    }

    private func within(
        _ value: ResolvedValue, _ left: QueryExpression, _ comparison: Comparison, _ low: Operand?, _ high: Operand?, includesHigh: Bool,
        _ scope: Scope
    ) throws -> QueryPredicate {
        .and(
            [
                try low.map { try compared(value, left, .greaterOrEqual, comparison, $0, scope) },
                try high.map { try compared(value, left, includesHigh ? .lessOrEqual : .less, comparison, $0, scope) },
            ].compactMap { $0 })
    }

    private func compared(
        _ value: ResolvedValue, _ left: QueryExpression, _ operation: ComparisonOperator, _ comparison: Comparison, _ operand: Operand,
        _ scope: Scope
    ) throws -> QueryPredicate {
        if case .constant(.null, _) = operand {
            switch operation {
            case .equal: return .isNull(value.expression)
            case .notEqual: return .not(.isNull(value.expression))
            default: return .compare(left, operation, .constant(.null, left.type))
            }
        }
        let right = try self.value(operand, value, comparison, scope)
        try checkComparable(value, right, comparison, scope)
        if operation == .equal || operation == .notEqual { try checkCase(value, right, comparison) }
        if value.isForeign || right.isForeign {
            return try comparedWithForeign(left, operation, comparison, isSame: value.isForeign && comparison.left == operand, scope)
        }
        return Self.comparison(left, operation, folded(right.expression, comparison.options))
    }

    /// Compares with an object of another store: it is not equal to any local object and has no order among them. A null value yields unknown, as always.
    private func comparedWithForeign(
        _ left: QueryExpression, _ operation: ComparisonOperator, _ comparison: Comparison, isSame: Bool, _ scope: Scope
    ) throws -> QueryPredicate {
        switch operation {
        case .equal: return isSame ? .all : .oneOf(left, [])
        case .notEqual: return isSame ? .none : .not(.oneOf(left, []))
        default:
            throw comparison.location.error(
                "\(operation.rawValue) cannot compare objects of different stores, which have no order. Compare an attribute.",
                entity: scope.entity.name)
        }
    }

    /// Returns a comparison in which reals are rounded to integers if the other side is an integer, so that an index can serve it.
    private static func comparison(
        _ left: QueryExpression, _ operation: ComparisonOperator, _ right: QueryExpression
    ) -> QueryPredicate {
        guard left.type.isNumber, left.type.physical == .integer, left.type != .uint64, case .real(let real)? = right.asConstant else {
            return .compare(left, operation, right)
        }
        if let whole = Int64(exactly: real) { return .compare(left, operation, .constant(.integer(whole), .int64)) }
        // An integer is never equal to a number with a fraction.
        if operation == .equal { return .oneOf(left, []) }
        if operation == .notEqual { return .not(.oneOf(left, [])) }
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
        guard case .list(let elements) = operand else { return try within(value, left, comparison, text: operand, scope) }
        var constants: [Value] = []
        var others: [QueryPredicate] = []
        var equality = comparison
        equality.operation = .equal
        for element in elements {
            if case .constant(.null, _) = element { continue }
            let right = try self.value(element, value, comparison, scope)
            try checkComparable(value, right, comparison, scope)
            try checkCase(value, right, comparison)
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
        // For an empty list, a null value and any other value give the same result.
        return .or((constants.isEmpty && !others.isEmpty ? [] : [.oneOf(left, constants)]) + others)
    }

    /// Returns a substring test: `'an' IN name`.
    private func within(
        _ value: ResolvedValue, _ left: QueryExpression, _ comparison: Comparison, text operand: Operand, _ scope: Scope
    ) throws -> QueryPredicate {
        let array = try self.value(operand, nil, comparison, scope)
        if let found = try membership(of: comparison.left, in: array, operand, comparison, scope) { return found }
        let whole = array.typed(.string)
        guard whole.target == nil, whole.expression.type.physical == .text else {
            throw comparison.location.error(
                "IN needs a list, {1, 2, 3} or %@ with one, a range, a text, or a path to many objects, and \(whole.expression) is \(description(of: whole)).",
                entity: scope.entity.name)
        }
        guard value.target == nil, left.type.physical == .text else {
            throw comparison.location.error(
                "\(whole.expression) is a text, and only texts can be IN it; \(value.expression) is \(description(of: value)).",
                entity: scope.entity.name, attribute: value.field?.name)
        }
        return .text(folded(whole.expression, comparison.options), .contains, left)
    }

    private func text(
        _ value: ResolvedValue, _ operation: TextOperator, _ comparison: Comparison, _ operand: Operand, _ scope: Scope
    ) throws -> QueryPredicate {
        guard value.expression.type.physical == .text, value.target == nil else {
            throw comparison.location.error(
                "\(operation.rawValue) needs text, and \(value.expression) is \(description(of: value)).",
                entity: scope.entity.name,
                attribute: value.expression.asField?.name)
        }
        let right = try self.value(operand, value, comparison, scope)
        guard right.expression.type.physical == .text || right.expression.asConstant?.isNull ?? false else {
            throw comparison.location.error(
                "\(operation.rawValue) needs text on its right too, and \(right.expression) is \(description(of: right)).",
                entity: scope.entity.name)
        }
        if operation == .matches { return try matches(value.expression, right.expression, comparison, scope) }
        return .text(folded(value.expression, comparison.options), operation, folded(right.expression, comparison.options))
    }

    /// Returns a regular expression match. The expression is not folded, which could change its meaning: case is an option of the expression, marks are
    /// removed from the text.
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

    /// Applies the text options. They have no effect on values that are not text.
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

    /// Checks that a constant is the raw value of a case if the attribute is an enumeration.
    private func checkCase(_ value: ResolvedValue, _ right: ResolvedValue, _ comparison: Comparison) throws {
        guard let cases, comparison.options.isEmpty, let owner = value.owner, let field = value.field,
            let constant = right.expression.asConstant,
            !constant.isNull, constant.fits(field.type), right.expression.type.isUnsigned == field.type.isUnsigned,
            let fault = cases(owner, field, constant)
        else { return }
        throw comparison.location.error(fault, entity: owner.name, attribute: field.name)
    }

    func description(of value: ResolvedValue) -> String { value.target.map { "an object of \($0.name)" } ?? "\(value.expression.type)" }
}

extension AttributeType {
    var isUnsigned: Bool { self == .uint64 }
}

extension Condition {
    /// A Boolean value that indicates whether the condition compares object ids. Subqueries are not searched.
    package var namesObjects: Bool {
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
        case .path, .constant, .subquery, .now, .query: false
        case .object: true
        case .score(let search): search.namesObjects
        case .function(_, let operands): operands.contains(where: \.namesObjects)
        case .conditional(let condition, let first, let second): condition.namesObjects || first.namesObjects || second.namesObjects
        case .aggregate(_, let inner): inner?.namesObjects ?? false
        case .cast(let inner, _), .datePart(_, let inner, _): inner.namesObjects
        case .list(let elements): elements.contains(where: \.namesObjects)
        case .range(let low, let high, _): low?.namesObjects ?? false || high?.namesObjects ?? false
        case .arithmetic(_, let left, let right): left.namesObjects || right.namesObjects
        }
    }

    /// A Boolean value that indicates whether the operand has the same value for every object.
    var isConstant: Bool {
        switch self {
        case .path, .subquery, .conditional, .aggregate, .score: false
        case .constant, .object, .now, .query: true
        case .function(_, let operands): operands.allSatisfy(\.isConstant)
        case .cast(let inner, _), .datePart(_, let inner, _): inner.isConstant
        case .list(let elements): elements.allSatisfy(\.isConstant)
        case .range(let low, let high, _): low?.isConstant ?? true && high?.isConstant ?? true
        case .arithmetic(_, let left, let right): left.isConstant && right.isConstant
        }
    }
}

extension Comparison {
    /// The comparison with its sides exchanged; nil if the operator does not allow it.
    var mirrored: Comparison? {
        guard case .comparison(let operation) = operation else { return nil }
        return Comparison(right, .comparison(operation.mirrored), left, modifier: modifier, options: options, location: location)
    }
}
