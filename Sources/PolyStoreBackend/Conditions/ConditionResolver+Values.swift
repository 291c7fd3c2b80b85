import Foundation

extension ConditionResolver {
    // MARK: Paths

    /// Whether keys lead to many objects, without a collection operator that makes one value of them.
    func isToMany(_ keys: ArraySlice<String>, _ entity: Entity) -> Bool {
        guard let key = keys.first, !keys.contains(where: { $0.hasPrefix("@") }), let relationship = entity.relationship(named: key) else {
            return false
        }
        return relationship.isToMany || isToMany(keys.dropFirst(), schema.entities[relationship.destination])
    }

    /// The path of an operand that leads to many objects, without a collection operator that makes one value of them.
    func toManyPath(_ operand: Operand, _ scope: Scope) throws -> PropertyPath? {
        guard case .path(let path) = operand else { return nil }
        let keys = try keys(of: path, scope)
        return isToMany(keys[...], scope.entity) ? PropertyPath(keys, location: path.location) : nil
    }

    /// The path of an operand whose first step is a relationship to one.
    func toOnePath(_ operand: Operand, _ scope: Scope) throws -> PropertyPath? {
        guard case .path(let path) = operand else { return nil }
        let keys = try keys(of: path, scope)
        guard let first = keys.first, let relationship = scope.entity.relationship(named: first), !relationship.isToMany else { return nil }
        return PropertyPath(keys, location: path.location)
    }

    /// The keys from the object of a scope on.
    private func keys(of path: PropertyPath, _ scope: Scope) throws -> [String] {
        guard path.keys.count <= FetchRequest.maximumDepth else {
            throw path.location.error(
                "A path of \(path.keys.count) steps is too long; \(FetchRequest.maximumDepth) are the limit.", entity: scope.entity.name)
        }
        guard path.variable == scope.variable else {
            let name = path.keys.joined(separator: ".")
            if let variable = path.variable {
                throw path.location.error("$\(variable) does not stand for anything here.", entity: scope.entity.name)
            }
            throw path.location.error(
                "\"\(name)\" would be of the outer object; in a SUBQUERY only properties of $\(scope.variable ?? "") can be asked about.",
                entity: scope.entity.name)
        }
        return path.keys.first?.uppercased() == "SELF" ? Array(path.keys.dropFirst()) : path.keys
    }

    /// The one value that a path leads to.
    func value(_ path: PropertyPath, _ scope: Scope) throws -> ResolvedValue {
        try value(try keys(of: path, scope)[...], scope.entity, path)
    }

    private func value(_ keys: ArraySlice<String>, _ entity: Entity, _ path: PropertyPath) throws -> ResolvedValue {
        guard let key = keys.first else { return ResolvedValue(expression: .field(.objectID), target: entity) }
        if key == "objectID", keys.count == 1 { return ResolvedValue(expression: .field(.objectID), target: entity) }
        let rest = keys.dropFirst()
        if let relationship = entity.relationship(named: key) {
            let reference = RelationshipReference(relationship, in: schema)
            if relationship.isToMany { return try collected(reference, rest, entity, path) }
            let inner = try value(rest, reference.destination, path)
            return ResolvedValue(expression: .related(reference, inner.expression), target: inner.target)
        }
        guard let field = entity.field(named: key) else { throw unknown(key, entity, path) }
        guard rest.isEmpty else {
            throw path.location.error(
                "\(entity.name).\(key) is an attribute and has no \"\(rest.joined(separator: "."))\".", entity: entity.name, attribute: key)
        }
        return ResolvedValue(expression: .field(FieldReference(field)))
    }

    /// `@count`, `@avg.age`, `age.@avg`: one value of many objects.
    private func collected(
        _ relationship: RelationshipReference, _ keys: ArraySlice<String>, _ entity: Entity, _ path: PropertyPath
    ) throws -> ResolvedValue {
        let isFirst = keys.first?.hasPrefix("@") ?? false
        guard let name = isFirst ? keys.first : keys.last, name.hasPrefix("@") else {
            throw path.location.error(
                "\(entity.name).\(relationship.name) leads to many objects: say which of their values, with ANY, ALL, NONE or an operator like @count.",
                entity: entity.name, attribute: relationship.name)
        }
        let inner = isFirst ? keys.dropFirst() : keys.dropLast()
        guard let function = Self.collectionOperators[name] else {
            throw path.location.error(
                "There is no \(name); there are \(Self.collectionOperators.keys.sorted().joined(separator: ", ")).", entity: entity.name)
        }
        if function == .count, inner.isEmpty { return ResolvedValue(expression: .count(relationship)) }
        guard !inner.isEmpty else {
            throw path.location.error("\(name) needs to know of which property: \(relationship.name).\(name).age", entity: entity.name)
        }
        let value = try value(inner, relationship.destination, path)
        if function.needsNumbers, !value.expression.type.isNumber || value.target != nil {
            throw path.location.error("\(name) needs numbers, and \(value.expression) is \(description(of: value)).", entity: entity.name)
        }
        return ResolvedValue(expression: .aggregate(function, relationship, value.expression), target: nil)
    }

    private static let collectionOperators: [String: Aggregate.Function] = [
        "@count": .count, "@sum": .sum, "@avg": .average, "@average": .average, "@min": .minimum, "@max": .maximum,
        "@countDistinct": .countDistinct, "@stddev": .standardDeviation, "@median": .median,
    ]

    private func unknown(_ key: String, _ entity: Entity, _ path: PropertyPath) -> StoreError {
        let names = entity.fields.map(\.name) + entity.relationships.filter(\.isToMany).map(\.name)
        let hint = Spelling.nearest(key, among: names).map { " Did you mean \"\($0)\"?" } ?? " It has \(names.joined(separator: ", "))."
        return path.location.error("\"\(key)\" is no property of \(entity.name).\(hint)", entity: entity.name, attribute: key)
    }

    // MARK: Operands

    /// The value of an operand.
    /// - Parameter other: what it is compared with, which tells constants their type.
    func value(_ operand: Operand, _ other: ResolvedValue?, _ comparison: Comparison, _ scope: Scope) throws -> ResolvedValue {
        switch operand {
        case .path(let path): return try value(path, scope)
        case .constant(let value, let type):
            return ResolvedValue(expression: other.flatMap { Self.constant(value, type, for: $0) } ?? .constant(value, type))
        case .object(let name, let id, let holder):
            guard let entity = schema.entity(named: name) else {
                throw comparison.location.error("There is no entity \(name) in this store.", entity: scope.entity.name)
            }
            let isForeign = store.map { store in holder.map { $0 != store } ?? false } ?? false
            return ResolvedValue(expression: .constant(.integer(id), .int64), target: entity, isForeign: isForeign)
        case .list: throw comparison.location.error("A list goes with IN and BETWEEN only.", entity: scope.entity.name)
        case .arithmetic(let operation, let left, let right):
            let first = try value(left, nil, comparison, scope)
            let second = try value(right, nil, comparison, scope)
            guard first.target == nil, second.target == nil,
                let result = QueryExpression.arithmetic(operation, first.expression, second.expression)
            else {
                throw comparison.location.error(
                    "\(operation.rawValue) does not go with \(description(of: first)) and \(description(of: second)).",
                    entity: scope.entity.name)
            }
            return ResolvedValue(expression: result)
        case .subquery(let path, let variable, let condition):
            return ResolvedValue(expression: try count(try keys(of: path, scope)[...], scope.entity, path, variable, condition))
        }
    }

    private func count(
        _ keys: ArraySlice<String>, _ entity: Entity, _ path: PropertyPath, _ variable: String, _ condition: Condition
    ) throws -> QueryExpression {
        guard let key = keys.first, let relationship = entity.relationship(named: key) else {
            throw path.location.error(
                "SUBQUERY needs a path to many objects, and \"\(path.keys.joined(separator: "."))\" of \(entity.name) is none.",
                entity: entity.name)
        }
        let reference = RelationshipReference(relationship, in: schema)
        if keys.count == 1 {
            return .count(reference, where: try predicate(condition, Scope(entity: reference.destination, variable: variable), depth: 0))
        }
        guard !relationship.isToMany else {
            throw path.location.error("SUBQUERY takes one step to many objects; \(key) is one already.", entity: entity.name)
        }
        return .related(reference, try count(keys.dropFirst(), reference.destination, path, variable, condition))
    }

    /// A constant in the type of what it is compared with, where it has a value there that means the same.
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
        case (.integer, .decimal) where type.isNumber:
            let decimal = type == .uint64 ? Decimal(string: "\(Number(value, isUnsigned: true)?.integer ?? 0)") : nil
            guard case .integer(let integer) = value else { return nil }
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
