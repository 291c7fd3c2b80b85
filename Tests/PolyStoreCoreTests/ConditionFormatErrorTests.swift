import PolyStoreBackend
import PolyStoreConditions
import PolyStoreCore
import Testing

@Suite struct ConditionFormatErrorTests {
    private func error(_ format: String, _ arguments: [Operand] = [], variables: [String: Operand] = [:]) -> StoreError? {
        #expect(throws: StoreError.self, "\(format.prefix(100))") {
            try Condition(format: format, arguments: arguments, variables: variables)
        }
    }

    @Test(arguments: FormatTable.invalid)
    func errorsNameThePositionAndTheRemedy(_ format: String, _ message: String) {
        let error = error(format, variables: FormatTable.variables)
        #expect(error?.code == .invalidPredicate)
        #expect(error?.message == message)
    }

    @Test(arguments: FormatTable.withWrongArguments)
    func invalidArgumentsAreReported(_ format: String, _ arguments: [Operand], _ message: String) {
        let error = error(format, arguments)
        #expect(error?.code == .invalidPredicate)
        #expect(error?.message.hasPrefix(message) ?? false, "\(error?.message ?? "")")
    }

    @Test func emptyFormatsAreReported() {
        #expect(error("")?.message == "The format is empty. To select everything write TRUEPREDICATE. (at 1:1)\n\n^")
        #expect(error(" \n ")?.message == "The format is empty. To select everything write TRUEPREDICATE. (at 2:2)\n \n ^")
        #expect(error("a == $x")?.message == "There is no value for $x; no variables are given. (at 1:6)\na == $x\n     ^~")
    }

    @Test func theLineOfTheErrorIsShown() {
        #expect(
            error("a == 1\n\tAND b contans 'é'\nAND c == 1")?.message
                == "\"contans\" is not an operator. Did you mean CONTAINS? (at 2:8)\n\tAND b contans 'é'\n\t      ^~~~~~~")
        #expect(
            error("name == 'é👨‍👩‍👧' &")?.message == "A single \"&\" means nothing. Write && or AND. (at 1:14)\nname == 'é👨‍👩‍👧' &\n             ^")
        #expect(error("a == \u{1}")?.message == "U+0001 means nothing here. (at 1:6)\na == \u{1}\n     ^")
        #expect(error("a == \0")?.message.hasPrefix("U+0000 means nothing here. (at 1:6)") ?? false)
        #expect(error("a == 🙂")?.message.hasPrefix("\"🙂\" (U+1F642) means nothing here. (at 1:6)") ?? false)
    }

    @Test func theErrorShowsAnExcerptOfALongLine() throws {
        let message = try #require(
            error(String(repeating: "a == 1 AND ", count: 10_000) + "b contans 1" + String(repeating: " OR c == 1", count: 10_000))?.message
        )
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[0] == "\"contans\" is not an operator. Did you mean CONTAINS? (at 1:110003)")
        #expect(lines[1].hasPrefix("…") && lines[1].hasSuffix("…") && lines[1].count == 200)
        #expect(lines[1].dropFirst(100).hasPrefix("contans 1 OR"))
        #expect(lines[2] == String(repeating: " ", count: 100) + "^~~~~~~")
    }

    // MARK: - Limits

    @Test func aMebibyteIsTheLimit() throws {
        let padding = String(repeating: " ", count: 1 << 20)
        #expect(try Condition(format: "a == 1" + padding.dropFirst(6)).description == "a == 1")
        let message = error("a == 1" + padding.dropFirst(5))?.message
        #expect(
            message?.hasPrefix("The format has 1048577 bytes; 1048576 is the limit. Pass long lists as arguments. (at 1:1048577)\n…")
                ?? false)
        #expect((message?.utf8.count ?? 0) < 1000)
    }

    /// Every nested construct at the maximum length, on a small stack: an error, without delay.
    @Test(arguments: [
        "(", "NOT ", "!", "-", "{", "a == (", "a == {", "a == -(", "x == 1 OR (", "NOT(", "((a == 1) AND (", "a + ", "a - (", "a * -",
        "count(", "ANY ",
        "a.", "SUBQUERY(", "SUBQUERY(a, $x, ", "SUBQUERY(a, $x, NOT ", "a == 1 OR a == 1 AND NOT a == a + a * SUBQUERY(f, $x, ",
        "a == SUBQUERY(f, $x, {",
        "a == 1 AND b == 2 OR (", "a NOT IN {", "'\\", "a BETWEEN {",
    ])
    func nestingHasALimit(_ piece: String) {
        let format = String(repeating: piece, count: (1 << 20) / piece.utf8.count)
        onSmallStack {
            let error = #expect(throws: StoreError.self) { try Condition(format: format) }
            #expect(error?.code == .invalidPredicate)
            #expect((error?.message.utf8.count ?? 0) < 2000)
        }
    }

    @Test(arguments: [
        ("a == 1", "x == 1 OR (", ")", 199), ("a == 1", "x == 1 AND NOT (y == 1 OR ", ")", 66), ("a == 1", "NOT ", "", 199),
        ("a == 1", "(", ")", 200),
    ])
    func nestingUpToTheLimitIsAccepted(_ middle: String, _ left: String, _ right: String, _ count: Int) {
        @Sendable func nested(_ count: Int) -> String {
            String(repeating: left, count: count) + middle + String(repeating: right, count: count)
        }
        onSmallStack {
            do {
                let condition = try Condition(format: nested(count))
                let again = try Condition(format: condition.description)
                #expect(again == condition)
                #expect(again.hashValue == condition.hashValue)
            } catch {
                Issue.record(error)
            }
            let error = #expect(throws: StoreError.self) { try Condition(format: nested(count + 1)) }
            #expect(error?.message.hasPrefix("The condition is nested too deeply; 200 is the limit. (at ") ?? false)
        }
    }

    @Test func operandsNestUpToTheLimitToo() {
        for (left, right) in [("a - (", ")"), ("{", "}"), ("a + b * (", ")"), ("SUBQUERY(f, $x, 1 < ", ").@count")] {
            @Sendable func nested(_ count: Int) -> String {
                "x == " + String(repeating: left, count: count) + "-1" + String(repeating: right, count: count)
            }
            let deepest = left.contains("*") || left.contains("<") ? 99 : 199
            onSmallStack {
                do {
                    let condition = try Condition(format: nested(deepest))
                    #expect(try Condition(format: condition.description) == condition)
                } catch {
                    Issue.record(error)
                }
                #expect(throws: StoreError.self) { try Condition(format: nested(deepest + 1)) }
            }
        }
    }

    @Test func argumentsCountTowardsTheNestingLimit() throws {
        var deep = FormatTable.integer(1)
        for _ in 0..<199 { deep = .list([deep]) }
        #expect(try Condition(format: "a == %@", arguments: [deep]).description.utf8.count == 6 + 199 * 2)
        #expect(error("NOT a == %@", [deep])?.message.hasPrefix("The condition is nested too deeply; 200 is the limit. (at 1:1)") ?? false)
        #expect(error("a == $x", variables: ["x": .list([deep])])?.message.hasPrefix("The condition is nested too deeply") ?? false)
    }

    /// Chains of any length are not nested.
    @Test func longChainsAreTaken() throws {
        guard case .and(let parts) = try Condition(format: String(repeating: "a == 1 AND ", count: 90_000) + "b == 1") else {
            Issue.record("no AND")
            return
        }
        #expect(parts.count == 90_001)
        let numbers = (0..<100_000).map(String.init).joined(separator: ", ")
        guard case .comparison(let comparison) = try Condition(format: "a IN {\(numbers)}"), case .list(let elements) = comparison.right
        else {
            Issue.record("no list")
            return
        }
        #expect(elements.count == 100_000)
    }
}
