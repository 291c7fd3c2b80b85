import PolyStoreBackend

extension OracleModel {
    /// The ids that a request selects, in order.
    func answer(_ request: FetchRequest) -> [Int64] {
        let rows = rows[request.entity.index]
        let sorted = selected(request.entity, request.predicate).sorted { left, right in
            guard let first = rows[left], let second = rows[right] else { return false }
            for key in request.sortKeys {
                let order = order(key, left, first, right, second)
                if order != 0 { return order < 0 }
            }
            return left < right
        }
        let rest = sorted.dropFirst(request.offset)
        return Array(request.limit.map { rest.prefix($0) } ?? rest)
    }

    /// The ids of the objects for which a condition is true, ascending.
    func selected(_ entity: Entity, _ predicate: QueryPredicate) -> [Int64] {
        rows[entity.index].filter { holds(predicate, $0.key, $0.value) == true }.map(\.key).sorted()
    }

    /// The targets of one object, ascending.
    func related(_ relationship: Relationship, of source: Int64) -> [Int64] {
        switch relationship.storage {
        case .foreignKey(let field):
            guard case .integer(let target) = rows[relationship.source][source]?[field] else { return [] }
            return [target]
        case .inverse(let field):
            return rows[relationship.destination].filter { _, row in
                if case .integer(source) = row[field] { true } else { false }
            }.map(\.key).sorted()
        case .link(let table, isReversed: false): return links[table].filter { $0.source == source }.map(\.target).sorted()
        case .link(let table, isReversed: true): return links[table].filter { $0.target == source }.map(\.source).sorted()
        }
    }

    private func order(_ key: SortKey, _ left: Int64, _ first: [Value], _ right: Int64, _ second: [Value]) -> Int {
        let first = value(key.field, left, first)
        let second = value(key.field, right, second)
        if first.isNull || second.isNull {
            if first.isNull && second.isNull { return 0 }
            let nullsFirst = key.nulls == .first || key.nulls == .smallest && key.ascending
            return first.isNull == nullsFirst ? -1 : 1
        }
        let order = OracleValues.compare(first, second, unsigned: key.field.type == .uint64)
        return key.ascending ? order : -order
    }

    func value(_ field: FieldReference, _ id: Int64, _ row: [Value]) -> Value { field.ordinal < 0 ? .integer(id) : row[field.ordinal] }

    /// Three-valued: nil is unknown.
    private func holds(_ predicate: QueryPredicate, _ id: Int64, _ row: [Value]) -> Bool? {
        switch predicate.node {
        case .constant(let value): return value
        case .isNull(let field): return value(field, id, row).isNull
        case .compare(let field, let comparison, let constant): return holds(value(field, id, row), comparison, constant, field)
        case .compareFields(let left, let comparison, let right):
            return holds(value(left, id, row), comparison, value(right, id, row), left)
        case .oneOf(let field, let constants):
            let value = value(field, id, row)
            if value.isNull { return nil }
            return constants.contains { !$0.isNull && OracleValues.compare(value, $0, unsigned: false) == 0 }
        case .text(let field, let operation, let pattern):
            guard case .text(let text) = value(field, id, row) else { return nil }
            return holds(text, operation, pattern)
        case .and(let parts):
            let values = parts.map { holds($0, id, row) }
            return values.contains(false) ? false : (values.contains(nil) ? nil : true)
        case .or(let parts):
            let values = parts.map { holds($0, id, row) }
            return values.contains(true) ? true : (values.contains(nil) ? nil : false)
        case .not(let part): return holds(part, id, row).map { !$0 }
        default: return nil
        }
    }

    private func holds(_ left: Value, _ comparison: ComparisonOperator, _ right: Value, _ field: FieldReference) -> Bool? {
        if left.isNull || right.isNull { return nil }
        let order = OracleValues.compare(left, right, unsigned: field.type == .uint64)
        switch comparison {
        case .equal: return order == 0
        case .notEqual: return order != 0
        case .less: return order < 0
        case .lessOrEqual: return order <= 0
        case .greater: return order > 0
        case .greaterOrEqual: return order >= 0
        }
    }

    private func holds(_ text: String, _ operation: TextOperator, _ pattern: String) -> Bool {
        let (bytes, part) = (Array(text.utf8), Array(pattern.utf8))
        guard part.count <= bytes.count else { return false }
        switch operation {
        case .beginsWith: return bytes.starts(with: part)
        case .endsWith: return bytes.suffix(part.count).elementsEqual(part)
        case .contains:
            guard let first = part.first else { return true }
            return (0...bytes.count - part.count).contains { bytes[$0] == first && bytes[$0..<$0 + part.count].elementsEqual(part) }
        case .like, .matches: return false
        }
    }
}
