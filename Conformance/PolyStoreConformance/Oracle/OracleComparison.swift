import PolyStoreBackend

/// A condition on expressions before any simplification. The framework builds the request from it, and the model computes the expected result from its sides.
struct OracleComparison {
    enum Kind {
        case compare(ComparisonOperator, QueryExpression)
        case text(TextOperator, QueryExpression)
        case oneOf([Value])
        case isNull
    }

    let entity: Entity
    let left: QueryExpression
    let kind: Kind

    var predicate: QueryPredicate {
        switch kind {
        case .compare(let comparison, let right): .compare(left, comparison, right)
        case .text(let operation, let right): .text(left, operation, right)
        case .oneOf(let values): .oneOf(left, values)
        case .isNull: .isNull(left)
        }
    }

    /// The same comparison with simpler sides.
    var simpler: [OracleComparison] {
        func with(_ left: QueryExpression, _ kind: Kind) -> OracleComparison { OracleComparison(entity: entity, left: left, kind: kind) }
        let lefts = OracleQuery.simpler(left).map { with($0, kind) }
        switch kind {
        case .compare(let comparison, let right): return lefts + OracleQuery.simpler(right).map { with(left, .compare(comparison, $0)) }
        case .text(let operation, let right): return lefts + OracleQuery.simpler(right).map { with(left, .text(operation, $0)) }
        case .oneOf(let values): return lefts + (values.count > 1 ? values.map { with(left, .oneOf([$0])) } : [])
        case .isNull: return lefts
        }
    }
}

extension OracleComparison: CustomStringConvertible {
    var description: String {
        switch kind {
        case .compare(let comparison, let right):
            "\(entity.name) where (\(left)) \(comparison.rawValue) (\(right)): \(left.type), \(right.type)"
        case .text(let operation, let right): "\(entity.name) where (\(left)) \(operation.rawValue) (\(right))"
        case .oneOf(let values): "\(entity.name) where (\(left)) in \(values.map(\.literal))"
        case .isNull: "\(entity.name) where (\(left)) is null"
        }
    }
}

extension OracleModel {
    /// Returns the ids for which the comparison is true, and those for which it is false.
    func answer(_ comparison: OracleComparison) -> (yes: [Int64], no: [Int64]) {
        let truths = ids(comparison.entity.index).map { ($0, holds(comparison, $0)) }
        return (truths.filter { $0.1 == true }.map(\.0), truths.filter { $0.1 == false }.map(\.0))
    }

    private func holds(_ comparison: OracleComparison, _ id: Int64) -> Bool? {
        let left = value(comparison.left, comparison.entity, id)
        switch comparison.kind {
        case .compare(let operation, let right):
            return holds(left, comparison.left.type, operation, value(right, comparison.entity, id), right.type)
        case .text(let operation, let right): return holds(left, operation, value(right, comparison.entity, id))
        case .oneOf(let values): return holds(left, isOneOf: values)
        case .isNull: return left.isNull
        }
    }
}
