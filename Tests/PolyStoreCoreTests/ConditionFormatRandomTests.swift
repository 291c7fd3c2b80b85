import PolyStoreBackend
import PolyStoreConditions
import PolyStoreCore
import SeededRandom
import TestSupport
import Testing

@Suite struct ConditionFormatRandomTests {
    @Test func randomConditionsAreReadAsTheyArePrinted() throws {
        var maker = RandomConditions(seed: 11)
        for _ in 0..<5_000 {
            let condition = maker.condition(depth: 5)
            let printed = condition.description
            let again = try Condition(format: printed)
            #expect(again == condition, "\(printed) is read as \(again)")
        }
    }

    /// For more cases: `POLYSTORE_FORMAT_MUTATIONS=10000000 swift test --filter ConditionFormatRandomTests`.
    @Test func anyFormatGivesAConditionOrAnErrorWithItsPlace() {
        let count = TestEnvironment.number("POLYSTORE_FORMAT_MUTATIONS") ?? 60_000
        var mutator = FormatMutator(seed: 7)
        var parsed = 0
        for _ in 0..<count {
            let format = mutator.next()
            let result = FormatCheck.problem(with: format)
            if let problem = result.problem { Issue.record("\(format.debugDescription) \(problem)") }
            if result.isParsed { parsed += 1 }
        }
        // Otherwise the mutations would test the errors only.
        #expect(parsed > count / 50 && parsed < count)
    }
}

/// Generates conditions with every construct of the grammar.
struct RandomConditions {
    private var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    mutating func condition(depth: Int, variables: [String] = []) -> Condition {
        switch depth == 0 ? 9 : random.below(10) {
        case 0: return .constant(random.below(2) == 0)
        case 1, 2: return .and((0...random.below(2) + 1).map { _ in condition(depth: depth - 1, variables: variables) })
        case 3, 4: return .or((0...random.below(2) + 1).map { _ in condition(depth: depth - 1, variables: variables) })
        case 5: return .not(condition(depth: depth - 1, variables: variables))
        default: return .comparison(comparison(depth: depth, variables: variables))
        }
    }

    private mutating func comparison(depth: Int, variables: [String]) -> Comparison {
        let operation = pick(Comparison.Operator.allCases)
        let bounds = (operand(depth: 0, variables: variables), operand(depth: 0, variables: variables))
        return Comparison(
            operand(depth: depth, variables: variables), operation,
            operation == .between ? .list([bounds.0, bounds.1]) : operand(depth: depth, variables: variables),
            modifier: pick(Comparison.Modifier.allCases), options: TextOptions(rawValue: UInt8(random.below(4))))
    }

    private mutating func operand(depth: Int, variables: [String]) -> Operand {
        switch random.below(depth == 0 ? 5 : 11) {
        case 0, 1: return .path(path(variables))
        case 5: return .list((0..<random.below(4)).map { _ in operand(depth: depth - 1, variables: variables) })
        case 6, 7:
            return .arithmetic(
                pick(ArithmeticOperator.allCases), operand(depth: depth - 1, variables: variables),
                operand(depth: depth - 1, variables: variables))
        case 8:
            let variable = pick(["x", "y", "Größe_1"])
            return .subquery(path(variables), variable: variable, condition(depth: depth - 1, variables: variables + [variable]))
        case 9:
            return .datePart(
                pick(DatePart.allCases), operand(depth: depth - 1, variables: variables),
                zone: pick([nil, "UTC", "-08", "Europe/Berlin", "\"\\\n", ""]))
        case 10:
            let function = pick(ScalarFunction.allCases.filter { $0 != .power })
            return .function(function, (0..<function.operandCount).map { _ in operand(depth: depth - 1, variables: variables) })
        default: return constant()
        }
    }

    private mutating func path(_ variables: [String]) -> PropertyPath {
        let names = [
            "a", "name", "any", "SELF", "In", "first name", "a.b", "@count", "@", "größe", "x\"\\\n", "1st", "名", "count", "$x", "#a", "%K",
        ]
        var keys = (0..<random.below(4)).map { _ in pick(names) }
        let variable = variables.isEmpty || random.below(2) == 0 ? nil : pick(variables)
        if keys.isEmpty, variable == nil, random.below(2) == 0 { keys = ["b"] }
        return PropertyPath(keys, variable: variable)
    }

    private mutating func constant() -> Operand {
        switch random.below(6) {
        case 0: return .null
        case 1: return .constant(.integer(Int64(random.below(2))), .bool)
        case 2: return .constant(.integer(pick([0, 1, -1, .min, .max, Int64(bitPattern: random.next())])), .int64)
        case 3: return .constant(.integer(.min | Int64(bitPattern: random.next())), .uint64)
        case 4:
            let real = Double(bitPattern: random.next())
            return .constant(.real(real.isFinite ? real : 0.1), .double)
        default:
            let scalars: [Unicode.Scalar] = [
                "a", "\"", "'", "\\", "\n", "\0", "\u{7f}", "é", "\u{301}", "😀", "%", "$", " ", "\r", "\t", "\u{2028}",
            ]
            var text = ""
            for _ in 0..<random.below(8) { text.unicodeScalars.append(pick(scalars)) }
            return .constant(.text(text), .string)
        }
    }

    private mutating func pick<T>(_ values: [T]) -> T { values[random.below(values.count)] }
}
