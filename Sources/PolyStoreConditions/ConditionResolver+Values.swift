import Foundation
import PolyStoreBackend
import PolyStoreQuery

extension ConditionResolver {
    // MARK: Paths

    /// Keys and the object that they start from.
    struct LocatedPath {
        /// The path, without its variable.
        let path: PropertyPath
        /// The scope of the object that the path starts from.
        let scope: Scope
        /// The number of levels between the current object and the one that the path starts from.
        let levels: Int
    }

    /// Returns whether keys lead to many objects and no collection operator reduces them to one value.
    package func isToMany(_ keys: ArraySlice<String>, _ entity: Entity) -> Bool {
        guard let key = keys.first, !keys.contains(where: { $0.hasPrefix("@") }), let relationship = entity.relationship(named: key) else {
            return false
        }
        let rest = keys.dropFirst()
        let destination = schema.entities[relationship.destination]
        if relationship.isToMany, let position = rest.first, PropertyPath.isPosition(position) {
            return position != "[SIZE]" && isToMany(rest.dropFirst(), destination)
        }
        return relationship.isToMany || isToMany(rest, destination)
    }

    /// Returns the path of an operand that leads to many objects, with no collection operator that reduces them to one value; otherwise nil.
    func toManyPath(_ operand: Operand, _ scope: Scope) throws -> LocatedPath? {
        guard case .path(let path) = operand else { return nil }
        let found = try located(path, scope)
        return isToMany(found.path.keys[...], found.scope.entity) ? found : nil
    }

    /// Returns the path of an operand whose first step is a to-one relationship; otherwise nil.
    func toOnePath(_ operand: Operand, _ scope: Scope) throws -> LocatedPath? {
        guard case .path(let path) = operand else { return nil }
        let found = try located(path, scope)
        guard let first = found.path.keys.first, let relationship = found.scope.entity.relationship(named: first), !relationship.isToMany
        else { return nil }
        return found
    }

    /// Splits a path into the object that it starts from and the remaining keys.
    private func located(_ path: PropertyPath, _ scope: Scope) throws -> LocatedPath {
        guard path.keys.count <= FetchRequest.maximumDepth else {
            throw path.location.error(
                "A path of \(path.keys.count) steps is too long; \(FetchRequest.maximumDepth) are the limit.", entity: scope.entity.name)
        }
        guard let found = scope.named(path.variable) else {
            let variable = path.variable ?? ""
            throw path.location.error(
                variable.hasPrefix(PropertyPath.closurePrefix)
                    ? "A column of a closure on related objects is used outside of that closure."
                    : "$\(variable) does not stand for anything here.", entity: scope.entity.name)
        }
        var keys = path.keys.first?.uppercased() == "SELF" ? Array(path.keys.dropFirst()) : path.keys
        // Duplicates make no difference unless the objects are aggregated.
        let operators = keys.filter { $0.hasPrefix("@") }
        if operators.count == 1, Self.unions.contains(operators[0]) { keys.removeAll { $0 == operators[0] } }
        return LocatedPath(path: PropertyPath(keys, location: path.location, type: path.type), scope: found.scope, levels: found.levels)
    }

    /// Returns the single value at the end of a path.
    package func value(_ path: PropertyPath, _ scope: Scope) throws -> ResolvedValue {
        let found = try located(path, scope)
        return try value(found.path.keys[...], found.scope.entity, path).outer(found.levels)
    }

    func value(_ keys: ArraySlice<String>, _ entity: Entity, _ path: PropertyPath) throws -> ResolvedValue {
        guard let key = keys.first else { return ResolvedValue(expression: .field(.objectID), target: entity) }
        if key == "objectID", keys.count == 1 { return ResolvedValue(expression: .field(.objectID), target: entity) }
        let rest = keys.dropFirst()
        if let relationship = entity.relationship(named: key) {
            let reference = RelationshipReference(relationship, in: schema)
            if relationship.isToMany { return try collected(reference, rest, entity, path) }
            let inner = try value(rest, reference.destination, path)
            return ResolvedValue(
                expression: .related(reference, inner.expression), target: inner.target, field: inner.field, owner: inner.owner,
                isOpen: inner.isOpen)
        }
        guard let field = entity.field(named: key) else { throw unknown(key, entity, path) }
        if path.type == nil, Array(rest) == ["length"], let length = QueryExpression.function(.length, [.field(FieldReference(field))]) {
            return ResolvedValue(expression: length)
        }
        if field.type == .json, !rest.isEmpty, path.type != nil || !rest.contains(where: { $0.hasPrefix("@") || $0.hasPrefix("[") }) {
            return try self.field(Array(rest), of: FieldReference(field), entity, path)
        }
        guard rest.isEmpty else {
            throw path.location.error(
                "\(entity.name).\(key) is an attribute and has no \"\(rest.joined(separator: "."))\".", entity: entity.name, attribute: key)
        }
        return ResolvedValue(expression: .field(FieldReference(field)), field: FieldReference(field), owner: entity)
    }

    /// Returns an aggregate of many objects: `@count`, `@avg.age`, `age.@avg`.
    private func collected(
        _ relationship: RelationshipReference, _ keys: ArraySlice<String>, _ entity: Entity, _ path: PropertyPath
    ) throws -> ResolvedValue {
        if let position = keys.first, PropertyPath.isPosition(position) {
            return try element(relationship, position, keys.dropFirst(), entity, path)
        }
        let isDistinct = keys.contains("@distinctUnionOfObjects")
        let keys = keys.filter { !Self.unions.contains($0) }[...]
        let isFirst = keys.first?.hasPrefix("@") ?? false
        guard let name = isFirst ? keys.first : keys.last, name.hasPrefix("@") else {
            throw path.location.error(
                "\(entity.name).\(relationship.name) leads to many objects: say which of their values, with ANY, ALL, NONE or an operator like @count.",
                entity: entity.name, attribute: relationship.name)
        }
        let inner = isFirst ? keys.dropFirst() : keys.dropLast()
        guard let function = Self.collectionOperators[name] else {
            throw path.location.error(
                "There is no \(name); there are \((Array(Self.collectionOperators.keys) + Self.unions).sorted().joined(separator: ", ")).",
                entity: entity.name)
        }
        if function == .count, inner.isEmpty { return ResolvedValue(expression: .count(relationship)) }
        guard !inner.isEmpty else {
            throw path.location.error("\(name) needs a property: \(relationship.name).\(name).age", entity: entity.name)
        }
        var value = try value(inner, relationship.destination, path)
        if value.isOpen, function != .count, function != .countDistinct {
            value = function.accepts(.string) ? try closed(value, path.location, Scope(entity)) : value.typed(.double)
        }
        if !function.accepts(value.expression.type) || value.target != nil && !function.accepts(.string) {
            throw path.location.error("\(name) needs numbers, and \(value.expression) is \(description(of: value)).", entity: entity.name)
        }
        let distinct = isDistinct ? QueryExpression.function(.distinct, [value.expression]) : nil
        return ResolvedValue(expression: .aggregate(function, relationship, distinct ?? value.expression), target: nil)
    }

    /// Returns a value at a position of an ordered relationship: `errands[0].title`, `errands[SIZE]`.
    private func element(
        _ relationship: RelationshipReference, _ position: String, _ keys: ArraySlice<String>, _ entity: Entity, _ path: PropertyPath
    ) throws -> ResolvedValue {
        if position == "[SIZE]" {
            guard keys.isEmpty else {
                throw path.location.error("[SIZE] is a number and has no \"\(keys.joined(separator: "."))\".", entity: entity.name)
            }
            return ResolvedValue(expression: .count(relationship))
        }
        guard relationship.relationship.isOrdered else {
            throw path.location.error(
                "\(entity.name).\(relationship.name) is not ordered, so its members have no positions. Make it an array, or ask for ANY of them.",
                entity: entity.name, attribute: relationship.name)
        }
        let inner = try value(keys, relationship.destination, path)
        let index = position == "[LAST]" ? -1 : Int(position.dropFirst().dropLast()) ?? 0
        return ResolvedValue(
            expression: .element(relationship, at: index, inner.expression), target: inner.target, field: inner.field, owner: inner.owner,
            isOpen: inner.isOpen)
    }

    private static let unions: Set<String> = ["@distinctUnionOfObjects", "@unionOfObjects"]

    private static let collectionOperators: [String: Aggregate.Function] = [
        "@count": .count, "@sum": .sum, "@avg": .average, "@average": .average, "@min": .minimum, "@max": .maximum,
        "@countDistinct": .countDistinct, "@stddev": .standardDeviation, "@median": .median, "@mode": .mode,
    ]

    private func unknown(_ key: String, _ entity: Entity, _ path: PropertyPath) -> StoreError {
        let names = entity.fields.map(\.name) + entity.relationships.filter(\.isToMany).map(\.name)
        let hint = Spelling.nearest(key, among: names).map { " Did you mean \"\($0)\"?" } ?? " It has \(names.joined(separator: ", "))."
        return path.location.error("\"\(key)\" is not a property of \(entity.name).\(hint)", entity: entity.name, attribute: key)
    }

    // MARK: Operands

    /// Returns the value of an operand.
    /// - Parameter other: the value it is compared with, which determines the type of constants.
    func value(_ operand: Operand, _ other: ResolvedValue?, _ comparison: Comparison, _ scope: Scope) throws -> ResolvedValue {
        switch operand {
        case .path(let path): return try value(path, scope).typed(like: other)
        case .constant(let value, let type):
            return ResolvedValue(expression: other.flatMap { Self.constant(value, type, for: $0) } ?? .constant(value, type))
        case .object(let name, let id, let holder):
            guard let entity = schema.entity(named: name) else {
                throw comparison.location.error("There is no entity \(name) in this store.", entity: scope.entity.name)
            }
            let isForeign = store.map { store in holder.map { $0 != store } ?? false } ?? false
            return ResolvedValue(expression: .constant(.integer(id), .int64), target: entity, isForeign: isForeign)
        case .list: throw comparison.location.error("A list goes with IN and BETWEEN only.", entity: scope.entity.name)
        case .range: throw comparison.location.error("A range goes with IN and BETWEEN only.", entity: scope.entity.name)
        case .arithmetic(let operation, let left, let right): return try arithmetic(operation, left, right, other, comparison, scope)
        case .function(let function, let operands): return try self.function(function, operands, other, comparison, scope)
        case .datePart(let part, let inner, let zone): return try datePart(part, inner, zone, other, comparison, scope)
        case .conditional(let condition, let left, let right):
            return try conditional(condition, left, right, other, comparison, scope)
        case .aggregate:
            throw comparison.location.error(
                "\(operand) covers all objects of a group, and here is one object. Use it in a selection, in having, or in the order of groups.",
                entity: scope.entity.name)
        case .cast(let inner, let type):
            return try cast(inner, type, other, comparison, scope)
        case .query, .score: return try score(operand, comparison, scope)
        case .now:
            let now = Value.real(Date().timeIntervalSinceReferenceDate)
            return ResolvedValue(expression: other.flatMap { Self.constant(now, .date, for: $0) } ?? .constant(now, .date))
        case .subquery(let path, let variable, let condition, let keys):
            let found = try located(path, scope)
            return try subquery(found.path.keys[...], found.scope, path, variable, condition, keys).outer(found.levels)
        }
    }

    // The operands have functions of their own, so that nested ones take little of the stack.

    private func arithmetic(
        _ operation: ArithmeticOperator, _ left: Operand, _ right: Operand, _ other: ResolvedValue?, _ comparison: Comparison,
        _ scope: Scope
    ) throws -> ResolvedValue {
        var first = try value(left, nil, comparison, scope)
        var second = try value(right, nil, comparison, scope)
        let type: AttributeType = first.expression.type == .decimal || second.expression.type == .decimal ? .decimal : .double
        (first, second) = (first.typed(type), second.typed(type))
        guard first.target == nil, second.target == nil,
            let result = QueryExpression.arithmetic(operation, first.expression, second.expression)
        else {
            throw comparison.location.error(
                "\(operation.rawValue) does not go with \(description(of: first)) and \(description(of: second)).\(Self.wayOut([first, second], isDivision: operation == .divide))",
                entity: scope.entity.name)
        }
        return try constant(result, other, scope)
    }

    private func function(
        _ function: ScalarFunction, _ operands: [Operand], _ other: ResolvedValue?, _ comparison: Comparison, _ scope: Scope
    ) throws -> ResolvedValue {
        let values = try operands.map { try value($0, nil, comparison, scope).typed(function.openType) }
        // The number of a shuffle can be the row id of an object.
        let isRowID = function == .shuffle && values.first.map { $0.target != nil && $0.expression.asConstant == nil } ?? false
        guard !values.dropFirst(isRowID ? 1 : 0).contains(where: { $0.target != nil }),
            let result = QueryExpression.function(function, values.map(\.expression))
        else {
            throw comparison.location.error(
                "\(function.rawValue) takes \(function.operandDescription), not \(values.map { description(of: $0) }.joined(separator: " and ")).\(Self.wayOut(values, isDivision: function == .modulus))",
                entity: scope.entity.name)
        }
        return try constant(result, other, scope)
    }

    private func datePart(
        _ part: DatePart, _ inner: Operand, _ zone: String?, _ other: ResolvedValue?, _ comparison: Comparison, _ scope: Scope
    ) throws -> ResolvedValue {
        return try constant(
            try datePart(part, try value(inner, nil, comparison, scope).typed(.date), zone, comparison, scope), other, scope)
    }

    /// Returns what to do instead of a computation with decimals; the empty text if there is none among the values.
    private static func wayOut(_ values: [ResolvedValue], isDivision: Bool) -> String {
        guard values.contains(where: { $0.expression.type == .decimal }) else { return "" }
        if isDivision {
            return
                " Decimals cannot be divided, because a quotient may have no last digit. Compare with a product instead (price > 2 * least for price / 2 > least), "
                + "multiply by a decimal (price * CAST(0.5, 'NSDecimalNumber')), or compute in Swift."
        }
        if values.contains(where: { $0.expression.type.isNumber && $0.expression.type.physical == .real }) {
            return " A real is not exact. Pass a Decimal, or write CAST(0.5, 'NSDecimalNumber')."
        }
        return
            " Stores compare, sort, add, subtract and multiply decimals, and compute sums and averages of them. Store the result in an attribute, "
            + "or fetch the objects and compute in Swift."
    }

    /// Evaluates an expression of constants once and returns the result as a constant.
    private func constant(_ expression: QueryExpression, _ other: ResolvedValue?, _ scope: Scope) throws -> ResolvedValue {
        let operands: [QueryExpression] =
            switch expression.node {
            case .arithmetic(_, let left, let right): [left, right]
            case .function(_, let operands): operands
            case .datePart(_, _, let date): [date]
            default: []
            }
        guard !operands.isEmpty, operands.allSatisfy({ $0.asConstant != nil }) else { return ResolvedValue(expression: expression) }
        let value = try expression.valueOfConstants(in: scope.entity)
        return ResolvedValue(
            expression: other.flatMap { Self.constant(value, expression.type, for: $0) } ?? .constant(value, expression.type))
    }

    private func datePart(
        _ part: DatePart, _ date: ResolvedValue, _ text: String?, _ comparison: Comparison, _ scope: Scope
    ) throws -> QueryExpression {
        guard let zone = text.map({ QueryTimeZone($0) }) ?? .utc else {
            throw comparison.location.error(
                "\(Value.text(text ?? "").literal(of: .string)) is not a time zone. Accepted are \(QueryTimeZone.acceptedForms).",
                entity: scope.entity.name)
        }
        guard date.target == nil, let result = QueryExpression.datePart(part, of: date.expression, in: zone) else {
            throw comparison.location.error(
                "\(part.rawValue) takes a date, not \(description(of: date)).", entity: scope.entity.name,
                attribute: date.expression.asField?.name)
        }
        return result
    }

    private func conditional(
        _ condition: Condition, _ left: Operand, _ right: Operand, _ other: ResolvedValue?, _ comparison: Comparison, _ scope: Scope
    ) throws -> ResolvedValue {
        let predicate = try predicate(condition, scope, depth: 0)
        // The typed operand determines the type of the constant.
        var (first, second): (ResolvedValue, ResolvedValue)
        if left.isConstant, !right.isConstant {
            second = try value(right, nil, comparison, scope)
            first = try value(left, second, comparison, scope)
        } else {
            first = try value(left, left.isConstant ? other : nil, comparison, scope)
            second = try value(right, left.isConstant ? other : first, comparison, scope)
        }
        (first, second) = (first.typed(like: second), second.typed(like: first))
        first = try closed(first, comparison.location, scope)
        second = try closed(second, comparison.location, scope)
        let isNull = first.expression.asConstant?.isNull ?? false || second.expression.asConstant?.isNull ?? false
        guard first.target == second.target || isNull, !first.isForeign, !second.isForeign,
            let result = QueryExpression.conditional(predicate, first.expression, second.expression)
        else {
            throw comparison.location.error(
                "TERNARY takes two values of one type, not \(description(of: first)) and \(description(of: second)).",
                entity: scope.entity.name)
        }
        return ResolvedValue(expression: result, target: first.target ?? second.target)
    }

    private func cast(
        _ operand: Operand, _ type: AttributeType, _ other: ResolvedValue?, _ comparison: Comparison, _ scope: Scope
    ) throws -> ResolvedValue {
        let value = try value(operand, nil, comparison, scope).typed(type)
        let origin = QueryExpression.constant(.real(0), .date)
        let inner = value.expression
        var result: QueryExpression?
        if value.target == nil {
            if inner.type == type || type == .double && inner.type.isNumber || type == .string && inner.type.physical == .text {
                result = inner
            } else if type == .date, inner.type.isNumber {
                result = .arithmetic(.add, origin, inner)
            } else if type == .double, inner.type == .date {
                result = .arithmetic(.subtract, inner, origin)
            } else if let constant = inner.asConstant, type == .decimal || type == .uuid {
                result = Self.constant(constant, inner.type, for: ResolvedValue(expression: .constant(.null, type)))
            }
        }
        guard let result else {
            throw comparison.location.error(
                "CAST cannot make a value of \(type) of \(inner), \(description(of: value)).", entity: scope.entity.name)
        }
        return try constant(result, other, scope)
    }

    private func subquery(
        _ keys: ArraySlice<String>, _ scope: Scope, _ path: PropertyPath, _ variable: String, _ condition: Condition, _ rest: [String]
    ) throws -> ResolvedValue {
        let entity = scope.entity
        guard let key = keys.first, let relationship = entity.relationship(named: key) else {
            throw path.location.error(
                "SUBQUERY needs a path to many objects, and \"\(path.keys.joined(separator: "."))\" of \(entity.name) is none.",
                entity: entity.name)
        }
        let reference = RelationshipReference(relationship, in: schema)
        if keys.count > 1 {
            guard !relationship.isToMany else {
                throw path.location.error("SUBQUERY takes one step to many objects; \(key) is one already.", entity: entity.name)
            }
            let inner = try subquery(
                keys.dropFirst(), scope.below(reference.destination, variable: nil, isNamed: false), path, variable, condition, rest)
            return ResolvedValue(expression: .related(reference, inner.expression))
        }
        let inside = scope.below(reference.destination, variable: variable, isNamed: true)
        let predicate = try predicate(condition, inside, depth: 0)
        if rest == ["@count"] || rest == ["[SIZE]"] { return ResolvedValue(expression: .count(reference, where: predicate)) }
        // For all other objects the value is null, which aggregates ignore.
        let all = try collected(reference, rest[...], entity, path)
        guard case .aggregate(let function, _, let operand) = all.expression.node else {
            throw path.location.error(
                "\(PropertyPath(rest).restLiteral) of a SUBQUERY is not supported. Ask for one value, such as .@count or .@max.age.",
                entity: entity.name)
        }
        var member = operand
        var isDistinct = false
        if case .function(.distinct, let operands) = operand.node { (member, isDistinct) = (operands[0], true) }
        guard var value = QueryExpression.conditional(predicate, member, .constant(.null, member.type)) else { return all }
        if isDistinct { value = .function(.distinct, [value]) ?? value }
        return ResolvedValue(expression: .aggregate(function, reference, value))
    }

    /// Converts a constant to the type of the value it is compared with. Returns nil if that type has no equivalent value.
    private static func constant(_ value: Value, _ type: AttributeType, for other: ResolvedValue) -> QueryExpression? {
        guard other.target == nil else { return nil }
        let wanted = other.expression.type
        switch (value, wanted) {
        case (.integer(let integer), _) where type.isNumber && wanted.isNumber:
            let number = type == .uint64 ? Int128(UInt64(bitPattern: integer)) : Int128(integer)
            if wanted == .uint64 { return UInt64(exactly: number).map { .constant(.integer(Int64(bitPattern: $0)), .uint64) } }
            if wanted.physical == .integer { return Int64(exactly: number).map { .constant(.integer($0), .int64) } }
            return Double(exactly: number).map { .constant(.real($0), wanted) }
        case (.integer(let integer), .bool) where type.isNumber && (integer == 0 || integer == 1): return .constant(value, .bool)
        case (.integer(let integer), .decimal) where type.isNumber:
            let decimal = type == .uint64 ? Decimal(UInt64(bitPattern: integer)) : nil
            return .constant(.blob((decimal ?? Decimal(integer)).orderedBytes), .decimal)
        case (.real(let real), .decimal) where type.isNumber: return .constant(.blob(Decimal.orderedBytes(comparing: real)), .decimal)
        case (.real, _) where type.isNumber && wanted.isNumber && wanted.physical == .real: return .constant(value, wanted)
        case (.text(let text), .uuid):
            return UUID(uuidString: text).map { .constant(.blob(withUnsafeBytes(of: $0.uuid, Array.init)), .uuid) }
        case (.text, .url), (.text, .json), (.text, .string): return .constant(value, wanted)
        case (.null, _): return .constant(.null, wanted)
        default: return nil
        }
    }
}

extension ConditionResolver.ResolvedValue {
    /// Returns the value evaluated on the enclosing object that many levels out.
    fileprivate func outer(_ levels: Int) -> ConditionResolver.ResolvedValue {
        guard levels > 0 else { return self }
        return ConditionResolver.ResolvedValue(
            expression: .outer(levels, expression), target: target, field: field, owner: owner, isOpen: isOpen)
    }
}
