import PolyStoreBackend

/// The expected result of an aggregate.
enum OracleAggregate {
    case exactly(Value)
    /// A real with a tolerance.
    case near(Double, within: Double)
    /// Any number: the result depends on the order of the additions.
    case anything

    func accepts(_ found: Value) -> Bool {
        switch self {
        case .exactly(let value): return OracleValues.same(value, found)
        case .near(let value, let tolerance):
            guard case .real(let found) = found else { return false }
            return abs(found - value) <= tolerance
        case .anything: if case .real = found { return true } else { return false }
        }
    }
}

extension OracleAggregate: CustomStringConvertible {
    var description: String {
        switch self {
        case .exactly(let value): value.literal
        case .near(let value, let tolerance): "\(value) ± \(tolerance)"
        case .anything: "any real"
        }
    }
}

extension OracleModel {
    struct Group {
        var key: [Value]
        var members: [Int64]
    }

    /// Returns the expected rows; `nil` if a sum overflows and the result is `invalidValue`.
    func answer(_ request: AggregateRequest) -> [(key: [Value], values: [OracleAggregate])]? {
        var answer: [(key: [Value], values: [OracleAggregate])] = []
        for group in groups(request) {
            var values: [OracleAggregate] = []
            for aggregate in request.aggregates {
                guard let value = value(aggregate, request.entity, group.members) else { return nil }
                values.append(value)
            }
            answer.append((group.key, values))
        }
        return answer
    }

    private func groups(_ request: AggregateRequest) -> [Group] {
        let rows = rows[request.entity.index]
        let fields = request.groupBy.compactMap(\.asField)
        var groups: [Group] = fields.isEmpty ? [Group(key: [], members: [])] : []
        for id in selected(request.entity, request.predicate) {
            guard let row = rows[id] else { continue }
            let key = fields.map { value($0, id, row) }
            if let index = groups.firstIndex(where: { group in zip(group.key, key).allSatisfy { OracleValues.same($0, $1) } }) {
                groups[index].members.append(id)
            } else {
                groups.append(Group(key: key, members: [id]))
            }
        }
        return groups.sorted { left, right in
            for (index, field) in fields.enumerated() {
                let (first, second) = (left.key[index], right.key[index])
                if first.isNull != second.isNull { return first.isNull }
                let order = OracleValues.compare(first, second, unsigned: field.type == .uint64)
                if order != 0 { return order < 0 }
            }
            return false
        }
    }

    private func value(_ aggregate: Aggregate, _ entity: Entity, _ members: [Int64]) -> OracleAggregate? {
        if case .score(let condition)? = aggregate.operand?.node { return score(aggregate.function, members.map { score(condition, $0) }) }
        guard let field = aggregate.field else { return .exactly(.integer(Int64(members.count))) }
        let unsigned = field.type == .uint64
        let values = members.compactMap { id in rows[entity.index][id].map { value(field, id, $0) } }.filter { !$0.isNull }
        switch aggregate.function {
        case .count: return .exactly(.integer(Int64(values.count)))
        case .countDistinct:
            var distinct: [Value] = []
            for value in values where !distinct.contains(where: { OracleValues.same($0, value) }) { distinct.append(value) }
            return .exactly(.integer(Int64(distinct.count)))
        case .minimum: return .exactly(values.min { OracleValues.compare($0, $1, unsigned: unsigned) < 0 } ?? .null)
        case .maximum: return .exactly(values.max { OracleValues.compare($0, $1, unsigned: unsigned) < 0 } ?? .null)
        case .median: return median(values, unsigned)
        case .mode: return .exactly(OracleValues.mode(values, unsigned: unsigned))
        case .standardDeviation: return deviation(values, unsigned)
        case .sum, .average:
            let isAverage = aggregate.function == .average
            if isAverage && values.isEmpty { return .exactly(.null) }
            switch field.type {
            case .float, .double: return .some(real(values, isAverage))
            default: return integer(values, isAverage, unsigned)
            }
        }
    }

    private func score(_ function: Aggregate.Function, _ scores: [Double]) -> OracleAggregate {
        switch function {
        case .minimum: .exactly(scores.min().map { .real($0) } ?? .null)
        case .maximum: .exactly(scores.max().map { .real($0) } ?? .null)
        default: .exactly(.integer(Int64(Set(scores).count)))
        }
    }

    private func median(_ values: [Value], _ unsigned: Bool) -> OracleAggregate {
        if values.isEmpty { return .exactly(.null) }
        let sorted = values.sorted { OracleValues.compare($0, $1, unsigned: unsigned) < 0 }
        if case .real(let least) = sorted[0], least.isNaN { return .exactly(.real(.nan)) }
        let positions = [sorted[(sorted.count - 1) / 2], sorted[sorted.count / 2]]
        if case .integer(let low) = positions[0], case .integer(let high) = positions[1] {
            // The midpoint of large numbers with different signs, where reals would lose all digits.
            let sum = unsigned ? Int128(UInt64(bitPattern: low)) + Int128(UInt64(bitPattern: high)) : Int128(low) + Int128(high)
            return .near(Double(sum) / 2, within: (Double(sum) / 2).ulp * 2)
        }
        let middle = positions.map { number($0, unsigned) }
        let median = middle[0] == middle[1] ? middle[0] : middle[0] / 2 + middle[1] / 2
        return median.isNaN ? .exactly(.real(.nan)) : (median.isInfinite ? .exactly(.real(median)) : .near(median, within: median.ulp * 2))
    }

    /// Scaled by the greatest difference to avoid overflow, in two passes.
    private func deviation(_ values: [Value], _ unsigned: Bool) -> OracleAggregate {
        guard let first = values.first else { return .exactly(.null) }
        if values.contains(where: { !number($0, unsigned).isFinite }) { return .exactly(.real(.nan)) }
        let halves = values.map { value -> Double in
            if case .integer(let one) = value, case .integer(let other) = first {
                return unsigned
                    ? Double(Int128(UInt64(bitPattern: one)) - Int128(UInt64(bitPattern: other))) / 2
                    : Double(Int128(one) - Int128(other)) / 2
            }
            return number(value, unsigned) / 2 - number(first, unsigned) / 2
        }
        let greatest = halves.map(abs).max() ?? 0
        if greatest == 0 { return .near(0, within: 0x1p-1074) }
        let parts = halves.map { $0 / greatest }
        let average = parts.reduce(0, +) / Double(parts.count)
        let deviation = (parts.reduce(0) { $0 + ($1 - average) * ($1 - average) } / Double(parts.count)).squareRoot()
        return .near(deviation * greatest * 2, within: greatest * 1e-10 + 0x1p-1073)
    }

    private func number(_ value: Value, _ unsigned: Bool) -> Double {
        switch value {
        case .integer(let integer): unsigned ? Double(UInt64(bitPattern: integer)) : Double(integer)
        case .real(let real): real
        default: 0
        }
    }

    private func integer(_ values: [Value], _ isAverage: Bool, _ unsigned: Bool) -> OracleAggregate? {
        var sum: Int128 = 0
        for case .integer(let value) in values { sum += unsigned ? Int128(UInt64(bitPattern: value)) : Int128(value) }
        if isAverage {
            let average = Double(sum) / Double(values.count)
            return .near(average, within: average.ulp * 2)
        }
        if unsigned { return UInt64(exactly: sum).map { .exactly(.integer(Int64(bitPattern: $0))) } }
        return Int64(exactly: sum).map { .exactly(.integer($0)) }
    }

    /// Exact, by non-overlapping sums (Shewchuk, "Adaptive precision floating-point arithmetic", 1997).
    private func real(_ values: [Value], _ isAverage: Bool) -> OracleAggregate {
        let numbers = values.compactMap { if case .real(let number) = $0 { number } else { nil } }
        let count = isAverage ? Double(numbers.count) : 1
        if numbers.contains(where: \.isNaN) || numbers.contains(.infinity) && numbers.contains(-.infinity) { return .exactly(.real(.nan)) }
        let magnitude = numbers.reduce(0) { $0 + abs($1) }
        if let infinite = numbers.first(where: \.isInfinite) {
            // The result is undefined if finite numbers overflow to the opposite infinity.
            return numbers.filter(\.isFinite).reduce(0) { $0 + abs($1) }.isFinite ? .exactly(.real(infinite)) : .anything
        }
        guard magnitude.isFinite else { return .anything }
        var parts: [Double] = []
        for number in numbers {
            var carried = number
            var remaining: [Double] = []
            for part in parts {
                let (large, small) = abs(carried) >= abs(part) ? (carried, part) : (part, carried)
                let sum = large + small
                let error = small - (sum - large)
                if error != 0 { remaining.append(error) }
                carried = sum
            }
            parts = remaining + [carried]
        }
        let exact = parts.reversed().reduce(0, +) / count
        return .near(exact, within: exact.ulp * 4 + magnitude * 1e-29)
    }
}
