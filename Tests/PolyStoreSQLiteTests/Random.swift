import PolyStoreBackend

/// A SplitMix64 generator with a seed, which also generates data and conditions.
struct Random: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
    /// Returns true with a probability of 1 in `one`.
    mutating func chance(_ one: Int) -> Bool { below(one) == 0 }

    mutating func field(_ entity: Entity) -> FieldReference {
        chance(12) ? .objectID : FieldReference(entity.fields[below(entity.fields.count)])
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
            return .blob([UInt8](Self.texts[below(Self.texts.count)].utf8) + (chance(3) ? [255] : []))
        }
    }

    mutating func predicate(_ entity: Entity, depth: Int) -> QueryPredicate {
        if depth > 0 && chance(2) {
            let parts = (0...below(3)).map { _ in predicate(entity, depth: depth - 1) }
            switch below(3) {
            case 0: return .and(parts)
            case 1: return .or(parts)
            default: return .not(parts[0])
            }
        }
        let field = field(entity)
        func comparison(_ random: inout Random) -> ComparisonOperator { ComparisonOperator.allCases[random.below(6)] }
        switch below(8) {
        case 0: return .isNull(field)
        case 1: return .oneOf(field, (0..<below(5)).map { _ in chance(6) ? .null : value(field.type, withNaN: true) })
        case 2:
            let others = entity.fields.map(FieldReference.init).filter {
                $0.type.physical == field.type.physical && $0.isUnsigned == field.isUnsigned
            }
            return .compare(field, comparison(&self), others[below(others.count)])
        case 3, 4:
            let texts = entity.fields.filter { $0.type.physical == .text }
            return .text(
                FieldReference(texts[below(texts.count)]), TextOperator.allCases[below(3)], Self.texts[below(Self.texts.count)])
        default: return .compare(field, comparison(&self), chance(15) ? .null : value(field.type, withNaN: true))
        }
    }
}
