import Foundation
import PolyStoreBackend

// The evaluation of expressions, object by object, on values in dictionaries.
extension OracleModel {
    func value(_ expression: QueryExpression, _ entity: Entity, _ id: Int64) -> Value {
        guard let row = rows[entity.index][id] else { return .null }
        switch expression.node {
        case .field(let field): return value(field, id, row)
        case .constant(let constant): return OracleValues.kept(constant)
        case .score(let condition): return .real(score(condition, id))
        case .related(let reference, let inner):
            guard let target = related(reference.relationship, of: id).first else { return .null }
            return value(inner, reference.destination, target)
        case .count(let reference, let predicate):
            return .integer(
                Int64(related(reference.relationship, of: id).filter { holds(predicate, reference.destination, $0) == true }.count))
        case .aggregate(let function, let reference, let inner):
            let values = related(reference.relationship, of: id).map { value(inner, reference.destination, $0) }.filter { !$0.isNull }
            return aggregate(function, values, inner.type)
        case .arithmetic(let operation, let left, let right) where expression.type == .decimal:
            guard let first = OracleDecimal(value(left, entity, id), left.type),
                let second = OracleDecimal(value(right, entity, id), right.type)
            else { return .null }
            return OracleDecimal.calculate(operation, first, second)
        case .arithmetic(let operation, let left, let right):
            guard let first = OracleNumber(value(left, entity, id), left.type),
                let second = OracleNumber(value(right, entity, id), right.type)
            else { return .null }
            return OracleNumber.calculate(operation, first, second).map(OracleValues.kept) ?? .null
        case .folded(let inner, let options):
            guard case .text(let text) = value(inner, entity, id) else { return .null }
            return .text(OracleText.folded(text, options))
        case .datePart(let part, let zone, let date):
            guard case .real(let seconds) = value(date, entity, id) else { return .null }
            return OracleCalendar.part(part, seconds, zone).map { .integer($0) } ?? .null
        case .json(let field, let attribute):
            guard case .text(let text) = value(attribute, entity, id) else { return .null }
            return OracleJSON.value(field, in: text)
        case .function(let function, let operands) where [.ln, .log, .exp].contains(function):
            guard let number = OracleNumber(value(operands[0], entity, id), operands[0].type)?.rounded else { return .null }
            if function == .exp { return OracleValues.kept(.real(exp(number))) }
            return number <= 0 ? .null : OracleValues.kept(.real(function == .ln ? log(number) : log10(number)))
        case .function(.shuffle, let operands):
            guard case .integer(let number) = value(operands[0], entity, id), case .integer(let seed) = value(operands[1], entity, id)
            else {
                return .null
            }
            return .integer(OracleShuffle.value(number, seed))
        // Never drawn: cases of their own show what these mean.
        case .function, .conditional, .element, .outer: return .null
        }
    }

    private func aggregate(_ function: Aggregate.Function, _ values: [Value], _ type: AttributeType) -> Value {
        func less(_ left: Value, _ right: Value) -> Bool { OracleValues.compare(left, right, unsigned: type == .uint64) < 0 }
        switch function {
        case .count: return .integer(Int64(values.count))
        case .countDistinct:
            var distinct: [Value] = []
            for value in values where !distinct.contains(where: { OracleValues.same($0, value) }) { distinct.append(value) }
            return .integer(Int64(distinct.count))
        case .minimum: return values.min(by: less) ?? .null
        case .maximum: return values.max(by: less) ?? .null
        case .mode: return OracleValues.mode(values, unsigned: type == .uint64)
        // Never drawn: a condition would depend on their last digit.
        case .standardDeviation, .median: return .null
        case .sum, .average:
            let isAverage = function == .average
            if isAverage && values.isEmpty { return .null }
            if type == .float || type == .double {
                var sum = 0.0
                for case .real(let number) in values { sum += number }
                return OracleValues.kept(.real(isAverage ? sum / Double(values.count) : sum))
            }
            var sum: Int128 = 0
            for case .whole(let number)? in values.map({ OracleNumber($0, type) }) { sum += number }
            if isAverage { return .real(Double(sum) / Double(values.count)) }
            return (type == .uint64 ? OracleNumber.unsigned(sum) : OracleNumber.signed(sum)) ?? .null
        }
    }
}
