import PolyStoreBackend
import SeededRandom

extension SplitMix64 {
    mutating func field(_ entity: Entity) -> FieldReference {
        once(in: 12) ? .objectID : FieldReference(entity.fields[below(entity.fields.count)])
    }

    private static let texts = ["", "a", "ab", "abc", "b", "a\0b", "\0", "é", "ab\u{10FFFF}", "\u{10FFFF}", "z", "ba", "NaN", "12", "1.5"]

    mutating func value(_ type: AttributeType, withNaN: Bool) -> Value {
        switch type.physical {
        case .integer:
            if let bounds = type.integerBounds {
                let some: [Int64] = [bounds.lowerBound, bounds.upperBound, 0, 1]
                return .integer(some[below(4)])
            }
            let some: [Int64] = [.min, .max, 0, 1, -1, 5, .min + 1, 2]
            return .integer(some[below(8)])
        case .real:
            let some: [Double] = [0, -0.0, 1, 1.5, -1, .infinity, -.infinity, 1e300, 2, withNaN ? .nan : 3]
            let value = some[below(10)]
            return .real(type == .float && value == 1e300 ? 8 : value)
        case .text: return .text(Self.texts[below(Self.texts.count)])
        case .blob:
            if type == .uuid { return .blob((0..<16).map { _ in UInt8(below(2)) * 255 }) }
            return .blob([UInt8](Self.texts[below(Self.texts.count)].utf8) + (once(in: 3) ? [255] : []))
        }
    }

    /// Returns a condition on a part of a date.
    private mutating func datePart(_ date: QueryExpression) -> QueryPredicate {
        let zones = ["UTC", "+05:30", "-18:00", "-00:00:01", "Europe/Berlin"]
        guard let zone = QueryTimeZone(zones[below(zones.count)]),
            let part = QueryExpression.datePart(DatePart.allCases[below(DatePart.allCases.count)], of: date, in: zone)
        else { return .none }
        let numbers: [Int64] = [-1, 0, 1, 2, 4, 5, 12, 23, 31, 52, 59, 2000, 2001]
        switch below(5) {
        case 0: return .isNull(part)
        case 1: return .oneOf(part, (0..<below(4)).map { _ in once(in: 6) ? .null : .integer(numbers[below(numbers.count)]) })
        default:
            return .compare(part, ComparisonOperator.allCases[below(6)], .constant(.integer(numbers[below(numbers.count)]), .int64))
        }
    }

    mutating func predicate(_ entity: Entity, depth: Int) -> QueryPredicate {
        if depth > 0 && once(in: 2) {
            let parts = (0...below(3)).map { _ in predicate(entity, depth: depth - 1) }
            switch below(3) {
            case 0: return .and(parts)
            case 1: return .or(parts)
            default: return .not(parts[0])
            }
        }
        if once(in: 8), let date = entity.fields.first(where: { $0.type == .date }) { return datePart(.field(FieldReference(date))) }
        let field = field(entity)
        func comparison(_ random: inout SplitMix64) -> ComparisonOperator { ComparisonOperator.allCases[random.below(6)] }
        switch below(8) {
        case 0: return .isNull(field)
        case 1: return .oneOf(field, (0..<below(5)).map { _ in once(in: 6) ? .null : value(field.type, withNaN: true) })
        case 2:
            let others = entity.fields.map(FieldReference.init).filter {
                $0.type.isComparable(with: field.type)
            }
            return .compare(field, comparison(&self), others[below(others.count)])
        case 3, 4:
            let texts = entity.fields.filter { $0.type.physical == .text }
            return .text(
                FieldReference(texts[below(texts.count)]), TextOperator.allCases[below(3)], Self.texts[below(Self.texts.count)])
        default: return .compare(field, comparison(&self), once(in: 15) ? .null : value(field.type, withNaN: true))
        }
    }
}
