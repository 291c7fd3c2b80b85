import PolyStoreBackend
import PolyStoreConditions
import PolyStoreCore
import Testing

@Suite struct ConditionFormatTests {
    @Test(arguments: FormatTable.valid)
    func validTextIsParsed(_ format: String, _ printed: String) throws {
        let condition = try Condition(format: format, variables: FormatTable.variables)
        #expect(condition.description == printed)
        #expect(try Condition(format: printed) == condition, "the printed format is parsed as another condition")
    }

    @Test(arguments: FormatTable.withArguments)
    func argumentsTakeTheirPlaces(_ format: String, _ arguments: [Operand], _ printed: String) throws {
        #expect(try Condition(format: format, arguments: arguments).description == printed)
    }

    /// The tables above rely on the printer; these expectations do not.
    @Test func conditionsFollowTheGrammar() throws {
        func path(_ keys: String..., variable: String? = nil) -> Operand { .path(PropertyPath(keys, variable: variable)) }
        func integer(_ value: Int64) -> Operand { .constant(.integer(value), .int64) }
        func equals(_ key: String, _ value: Int64) -> Condition { .comparison(Comparison(path(key), .equal, integer(value))) }
        let expected: [(String, Condition)] = [
            ("TRUEPREDICATE", .constant(true)),
            ("a == 1 AND b == 2 OR NOT c == 3", .or([.and([equals("a", 1), equals("b", 2)]), .not(equals("c", 3))])),
            ("a == 1 AND (b == 2 AND c == 3)", .and([equals("a", 1), .and([equals("b", 2), equals("c", 3)])])),
            (
                "friend.name ==[cd] 'x'",
                .comparison(
                    Comparison(
                        path("friend", "name"), .equal, .constant(.text("x"), .string), options: [.caseInsensitive, .diacriticInsensitive]))
            ),
            ("ALL a.b != NULL", .comparison(Comparison(path("a", "b"), .notEqual, .null, modifier: .all))),
            (
                "SELF IN {TRUE, 1.5}",
                .comparison(Comparison(path(), .oneOf, .list([.constant(.integer(1), .bool), .constant(.real(1.5), .double)])))
            ),
            ("n > 18446744073709551615", .comparison(Comparison(path("n"), .greater, .constant(.integer(-1), .uint64)))),
            (
                "1 - 2 - 3 * 4 < -a",
                .comparison(
                    Comparison(
                        .arithmetic(
                            .subtract, .arithmetic(.subtract, integer(1), integer(2)), .arithmetic(.multiply, integer(3), integer(4))),
                        .less, .arithmetic(.subtract, integer(0), path("a"))))
            ),
            (
                "SUBQUERY(a, $x, $x.b == 1).@count > 2",
                .comparison(
                    Comparison(
                        .subquery(
                            PropertyPath(["a"]), variable: "x", .comparison(Comparison(path("b", variable: "x"), .equal, integer(1)))),
                        .greater, integer(2)))
            ),
        ]
        for (format, condition) in expected { #expect(try Condition(format: format) == condition, "\(format)") }
    }

    @Test func comparisonsAndPathsKnowTheirPlaces() throws {
        let source = "a == 1 AND\n NOT friends . name IN {'é', $x}"
        guard case .and(let parts) = try Condition(format: source, variables: ["x": .null]),
            case .not(.comparison(let comparison)) = parts[1],
            case .path(let path) = comparison.left
        else {
            Issue.record("another condition")
            return
        }
        func text(_ location: FormatLocation) -> String {
            String(decoding: Array(source.utf8)[location.range], as: UTF8.self)
        }
        #expect(text(comparison.location) == "friends . name IN {'é', $x}")
        #expect(text(path.location) == "friends . name")
        #expect(path.location.error("Wrong.").message == "Wrong. (at 2:6)\n NOT friends . name IN {'é', $x}\n     ^~~~~~~~~~~~~~")
    }

    @Test func allWhiteSpaceSeparatesTokens() throws {
        let condition = try Condition(
            format: "\u{feff}a == 1".replacing("\u{feff}", with: "\u{a0}") + "\u{2003}AND\t\r\nb\u{b}==\u{c}2\u{3000}")
        #expect(condition.description == "a == 1 AND b == 2")
    }

    @Test func valuesWithoutALiteralArePrinted() {
        #expect(Condition.and([]).description == "TRUEPREDICATE")
        #expect(Condition.or([]).description == "FALSEPREDICATE")
        #expect(Condition.and([.constant(false)]).description == "FALSEPREDICATE")
        #expect(Condition.not(.or([.and([.constant(true), .constant(true)])])).description == "NOT (TRUEPREDICATE AND TRUEPREDICATE)")
        #expect(Condition.resolved(.none).description == "FALSEPREDICATE")
        #expect(PropertyPath([]).description == "SELF")
        #expect(PropertyPath([], variable: "x").description == "$x")
        #expect(Comparison(FormatTable.path("a"), .less, .null).description == "a < NULL")
    }
}
