import PolyStoreBackend

extension OracleQuery {
    /// The same query with one element removed, the largest elements first.
    var simpler: [OracleQuery] {
        switch self {
        case .fetch(let request): Self.simpler(request).map(OracleQuery.fetch)
        case .explain(let request): [.fetch(request)] + Self.simpler(request).map(OracleQuery.explain)
        case .count(let request): [.fetch(request)] + Self.simpler(request).map(OracleQuery.count)
        case .interleaved(let requests): requests.map(OracleQuery.fetch) + Self.simpler(requests)
        case .aggregate(let request): Self.simpler(request).map(OracleQuery.aggregate)
        case .related(let relationship, let sources): sources.count > 1 ? sources.map { .related(relationship, [$0]) } : []
        case .record, .refused, .searched: []
        case .compared(let comparison): comparison.simpler.map(OracleQuery.compared)
        }
    }

    private static func simpler(_ requests: [FetchRequest]) -> [OracleQuery] {
        requests.indices.flatMap { index in
            simpler(requests[index]).map { request in
                var changed = requests
                changed[index] = request
                return .interleaved(changed)
            }
        }
    }

    private static func simpler(_ request: FetchRequest) -> [FetchRequest] {
        var found: [FetchRequest] = []
        func with(_ change: (inout FetchRequest) -> Void) {
            var copy = request
            change(&copy)
            if copy != request { found.append(copy) }
        }
        for predicate in simpler(request.predicate) { with { $0.predicate = predicate } }
        with { $0.sortKeys = [] }
        for index in request.sortKeys.indices {
            guard let expression = request.sortKeys[index].expression else { continue }
            for simple in simpler(expression) {
                with { $0.sortKeys[index] = SortKey(simple, ascending: $0.sortKeys[index].ascending, nulls: $0.sortKeys[index].nulls) }
            }
        }
        if request.sortKeys.count > 1 { for index in request.sortKeys.indices { with { $0.sortKeys.remove(at: index) } } }
        with { $0.limit = nil }
        with { $0.offset = 0 }
        with { $0.onlyIDs = false }
        with { $0.fields = nil }
        return found
    }

    private static func simpler(_ request: AggregateRequest) -> [AggregateRequest] {
        var found: [AggregateRequest] = []
        func with(_ change: (inout AggregateRequest) -> Void) {
            var copy = request
            change(&copy)
            found.append(copy)
        }
        for predicate in simpler(request.predicate) { with { $0.predicate = predicate } }
        for index in request.groupBy.indices { with { $0.groupBy.remove(at: index) } }
        if request.aggregates.count > 1 { for index in request.aggregates.indices { with { $0.aggregates.remove(at: index) } } }
        return found
    }

    /// Returns the constant predicate, each part alone, and the predicate without each part.
    private static func simpler(_ predicate: QueryPredicate) -> [QueryPredicate] {
        let inner: [QueryPredicate]
        switch predicate.node {
        case .constant, .search: return []
        case .and(let parts): inner = parts + simpler(parts, QueryPredicate.and)
        case .or(let parts): inner = parts + simpler(parts, QueryPredicate.or)
        case .not(let part): inner = [part] + simpler(part).map(QueryPredicate.not)
        case .related(let reference, let quantifier, let part):
            inner = simpler(part).map { .related(reference, quantifier, $0) }
        case .compare(let left, let comparison, let right):
            inner =
                simpler(left).map { .compare($0, comparison, right) } + simpler(right).map { .compare(left, comparison, $0) }
        case .isNull(let expression): inner = simpler(expression).map(QueryPredicate.isNull)
        case .oneOf(let expression, let values):
            let middle = values.count / 2
            let halves = values.count > 1 ? [Array(values[..<middle]), Array(values[middle...])] : []
            inner = simpler(expression).map { .oneOf($0, values) } + halves.map { .oneOf(expression, $0) }
        case .text(let left, let operation, let right):
            inner = simpler(left).map { .text($0, operation, right) } + simpler(right).map { .text(left, operation, $0) }
        }
        return [.all] + inner.filter { $0 != predicate }
    }

    /// Returns the parts of the same type and object, and the expression with simpler parts.
    static func simpler(_ expression: QueryExpression) -> [QueryExpression] {
        let found: [QueryExpression]
        switch expression.node {
        case .field, .constant, .score: found = []
        case .related(let reference, let inner): found = simpler(inner).map { .related(reference, $0) }
        case .count(let reference, let predicate): found = simpler(predicate).map { .count(reference, where: $0) }
        case .aggregate(let function, let reference, let inner): found = simpler(inner).map { .aggregate(function, reference, $0) }
        case .arithmetic(let operation, let left, let right):
            found =
                [left, right] + simpler(left).compactMap { .arithmetic(operation, $0, right) }
                + simpler(right).compactMap { .arithmetic(operation, left, $0) }
        case .function(let function, let operands):
            let changed = operands.indices.flatMap { index in
                simpler(operands[index]).map { operands[..<index] + [$0] + operands[(index + 1)...] }
            }
            found = operands + changed.compactMap { .function(function, Array($0)) }
        case .conditional, .element, .outer: found = []
        case .json(let field, let attribute):
            let shorter = field.keys.indices.map { index in
                var keys = field.keys
                keys.remove(at: index)
                return JSONField(keys, field.result)
            }
            found = shorter.compactMap { .json($0, of: attribute) }
        case .datePart(let part, let zone, let date):
            found = [.constant(.integer(1), .int64)] + simpler(date).compactMap { .datePart(part, of: $0, in: zone) }
        case .folded(let inner, let options): found = [inner] + simpler(inner).map { .folded($0, options) }
        }
        return found.filter { $0.type == expression.type }
    }

    private static func simpler(_ parts: [QueryPredicate], _ join: ([QueryPredicate]) -> QueryPredicate) -> [QueryPredicate] {
        parts.indices.flatMap { index in
            simpler(parts[index]).dropFirst().map { part in
                var changed = parts
                changed[index] = part
                return join(changed)
            }
        }
    }
}
