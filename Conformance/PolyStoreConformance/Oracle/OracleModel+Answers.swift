import PolyStoreBackend

extension OracleModel {
    /// Returns the ids that a request selects, in order.
    func answer(_ request: FetchRequest) -> [Int64] {
        let rows = rows[request.entity.index]
        let sorted = selected(request.entity, request.predicate).sorted { left, right in
            guard let first = rows[left], let second = rows[right] else { return false }
            for key in request.sortKeys {
                let order = order(key, request.entity, left, first, right, second)
                if order != 0 { return order < 0 }
            }
            return left < right
        }
        let remaining = sorted.dropFirst(request.offset)
        return Array(request.limit.map { remaining.prefix($0) } ?? remaining)
    }

    /// Returns the ids of the objects for which a condition is true, in ascending order.
    func selected(_ entity: Entity, _ predicate: QueryPredicate) -> [Int64] {
        rows[entity.index].filter { holds(predicate, entity, $0.key) == true }.map(\.key).sorted()
    }

    /// Returns the targets of an object, in order.
    func related(_ relationship: Relationship, of source: Int64) -> [Int64] { positioned(relationship, of: source).map(\.id) }

    /// A row id with its position in an ordered relationship.
    struct PositionedID: Comparable {
        let position: Int64
        let id: Int64

        static func < (left: PositionedID, right: PositionedID) -> Bool { (left.position, left.id) < (right.position, right.id) }
    }

    /// Returns the targets of an object with their positions; 0 without an order.
    func positioned(_ relationship: Relationship, of source: Int64) -> [PositionedID] {
        var found: [PositionedID] = []
        // Targets without a position precede all others.
        var withoutPosition: [PositionedID] = []
        switch relationship.storage {
        case .foreignKey(let field):
            if case .integer(let target) = rows[relationship.source][source]?[field] { found = [PositionedID(position: 0, id: target)] }
        case .inverse(let field):
            for (id, row) in rows[relationship.destination] {
                guard case .integer(source) = row[field] else { continue }
                guard let position = relationship.positionField else {
                    found.append(PositionedID(position: 0, id: id))
                    continue
                }
                if case .integer(let stored) = row[position] {
                    found.append(PositionedID(position: stored, id: id))
                } else {
                    withoutPosition.append(PositionedID(position: .min, id: id))
                }
            }
        case .link(let table, isReversed: false):
            for (pair, positions) in links[table] where pair.source == source {
                found.append(PositionedID(position: relationship.isOrdered ? positions.target : 0, id: pair.target))
            }
        case .link(let table, isReversed: true):
            for (pair, positions) in links[table] where pair.target == source {
                found.append(PositionedID(position: relationship.isOrdered ? positions.source : 0, id: pair.source))
            }
        }
        return withoutPosition.sorted() + found.sorted()
    }

    private func order(_ key: SortKey, _ entity: Entity, _ left: Int64, _ first: [Value], _ right: Int64, _ second: [Value]) -> Int {
        let first = key.expression.map { value($0, entity, left) } ?? value(key.field, left, first)
        let second = key.expression.map { value($0, entity, right) } ?? value(key.field, right, second)
        if first.isNull || second.isNull {
            if first.isNull && second.isNull { return 0 }
            let nullsFirst = key.nulls == .first || key.nulls == .smallest && key.ascending
            return first.isNull == nullsFirst ? -1 : 1
        }
        let order = OracleValues.compare(first, second, unsigned: key.field.type == .uint64)
        return key.ascending ? order : -order
    }

    func value(_ field: FieldReference, _ id: Int64, _ row: [Value]) -> Value { field.index < 0 ? .integer(id) : row[field.index] }

    /// Evaluates a condition in three-valued logic; `nil` is unknown.
    func holds(_ predicate: QueryPredicate, _ entity: Entity, _ id: Int64) -> Bool? {
        guard rows[entity.index][id] != nil else { return nil }
        switch predicate.node {
        case .constant(let value): return value
        case .compare(let left, let comparison, let right):
            return holds(value(left, entity, id), left.type, comparison, value(right, entity, id), right.type)
        case .isNull(let expression): return value(expression, entity, id).isNull
        case .oneOf(let expression, let constants): return holds(value(expression, entity, id), isOneOf: constants)
        case .text(let left, let operation, let right):
            return holds(value(left, entity, id), operation, value(right, entity, id))
        case .search(let condition): return matches(condition, id)
        case .related(let reference, let quantifier, let part):
            let truths = related(reference.relationship, of: id).map { holds(part, reference.destination, $0) }
            switch quantifier {
            case .one: return truths.first ?? nil
            case .any: return truths.contains(true)
            case .all: return !truths.contains { $0 != true }
            }
        case .and(let parts):
            let values = parts.map { holds($0, entity, id) }
            return values.contains(false) ? false : (values.contains(nil) ? nil : true)
        case .or(let parts):
            let values = parts.map { holds($0, entity, id) }
            return values.contains(true) ? true : (values.contains(nil) ? nil : false)
        case .not(let part): return holds(part, entity, id).map { !$0 }
        }
    }

    func holds(_ value: Value, isOneOf constants: [Value]) -> Bool? {
        value.isNull ? nil : constants.contains { !$0.isNull && OracleValues.compare(value, $0, unsigned: false) == 0 }
    }

    /// Compares values that may have different types.
    func holds(
        _ left: Value, _ leftType: AttributeType, _ comparison: ComparisonOperator, _ right: Value, _ rightType: AttributeType
    ) -> Bool? {
        if left.isNull || right.isNull { return nil }
        if let first = OracleNumber(left, leftType), let second = OracleNumber(right, rightType) {
            return holds(OracleNumber.compare(first, second), comparison)
        }
        return holds(OracleValues.compare(left, right, unsigned: false), comparison)
    }

    private func holds(_ order: Int, _ comparison: ComparisonOperator) -> Bool {
        switch comparison {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }

    func holds(_ value: Value, _ operation: TextOperator, _ wanted: Value) -> Bool? {
        guard case .text(let text) = value, case .text(let pattern) = wanted else { return nil }
        let (bytes, part) = (Array(text.utf8), Array(pattern.utf8))
        switch operation {
        case .like: return OracleText.isLike(text, pattern)
        case .matches: return OracleExpression(pattern).matches(text)
        case .beginsWith: return bytes.starts(with: part)
        case .endsWith: return part.count <= bytes.count && bytes.suffix(part.count).elementsEqual(part)
        case .contains:
            guard let first = part.first else { return true }
            guard part.count <= bytes.count else { return false }
            return (0...bytes.count - part.count).contains { bytes[$0] == first && bytes[$0..<$0 + part.count].elementsEqual(part) }
        }
    }
}
