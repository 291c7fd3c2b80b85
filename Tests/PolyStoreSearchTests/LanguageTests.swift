import PolyStoreSearch
import Testing

/// What queries mean, and what the strict reading rejects.
@Suite struct LanguageTests {
    static let fields = ["title", "body"]

    /// Writes a resolved search so that tests can compare it: phrases with their terms, `*` and the field numbers that restrict them.
    static func meaning(_ search: ResolvedSearch) -> String {
        func phrase(_ index: Int) -> String {
            let phrase = search.phrases[index]
            let terms = phrase.terms.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "+")
            let fields =
                phrase.fields == .max ? "" : "@" + (0..<64).filter { phrase.fields >> $0 & 1 == 1 }.map(String.init).joined(separator: ",")
            return terms + (phrase.isPrefix ? "*" : "") + fields
        }
        func text(_ node: ResolvedSearch.Node) -> String {
            switch node {
            case .nothing: "nothing"
            case .phrase(let index): phrase(index)
            case .near(let phrases, let distance): "near(\(phrases.map(phrase).joined(separator: " ")) \(distance))"
            case .and(let parts): "(\(parts.map(text).joined(separator: " & ")))"
            case .or(let parts): "(\(parts.map(text).joined(separator: " | ")))"
            case .excluding(let part, let other): "(\(text(part)) - \(text(other)))"
            }
        }
        return text(search.root)
    }

    static func lenient(_ query: String, _ options: SearchOptions = SearchOptions()) -> String {
        (try? Search(query).resolved(fields: fields, options: options)).map(meaning) ?? "error"
    }

    static let correct: [(query: String, meaning: String)] = [
        ("", "nothing"), ("  \t\u{3000}", "nothing"), ("++ . -", "nothing"), ("swift", "swift"), ("Two words", "(two & words)"),
        ("two\u{3000}words\u{a0}here", "(two & words & here)"), ("two AND words", "(two & words)"), ("a OR b", "(a | b)"),
        ("a b OR c d", "((a & b) | (c & d))"), ("a (b OR c) d", "(a & (b | c) & d)"), ("a OR (b OR c)", "(a | (b | c))"),
        ("((a))", "a"), ("\"Two words\"", "two+words"), ("“two words” x", "(two+words & x)"), ("„two words“", "two+words"),
        ("e-mail", "e+mail"),
        ("user@example.com", "user+example+com"), ("C++", "c"), ("don't", "don+t"), ("pre*", "pre*"), ("e-ma*", "e+ma*"),
        ("\"two wor\"*", "two+wor*"), ("a -b", "(a - b)"), ("-b a", "(a - b)"), ("a -b -c", "(a - (b | c))"), ("a -\"b c\"", "(a - b+c)"),
        ("a -(b OR c)", "(a - (b | c))"), ("a AND -b", "(a - b)"), ("-a", "nothing"), ("-a -b", "nothing"), ("a OR -b", "a"),
        ("(-a) b", "nothing"),
        ("a -(-b)", "a"), ("(a -b) OR c", "((a - b) | c)"), ("(a -b) c", "((a - b) & c)"), ("a -++", "a"), ("title:a", "a@0"),
        ("title:a b", "(a@0 & b)"), ("TITLE:a", "a@0"), ("title:\"a b\"", "a+b@0"), ("title:\"a b\"*", "a+b*@0"),
        ("title:(a OR body:b)", "a@0"),
        ("body:(a OR b c)", "(a@1 | (b@1 & c@1))"), ("title:(body:x)", "nothing"), ("a title:(body:x)", "nothing"),
        ("a OR title:(body:x)", "a"),
        ("a -title:(body:x)", "a"), ("-title:a b", "(b - a@0)"), ("-title:\"a c\" b", "(b - a+c@0)"),
        ("title:http://x.org", "http+x+org@0"),
        ("title:a*", "a*@0"), ("title:e-mail", "e+mail@0"), ("NEAR(a b)", "near(a b 10)"), ("NEAR(a b, 3)", "near(a b 3)"),
        ("NEAR(a b,3)", "near(a b 3)"), ("NEAR(a b , 0 )", "near(a b 0)"), ("NEAR(\"a b\" c* , 7)", "near(a+b c* 7)"), ("NEAR(a)", "a"),
        ("NEAR(a ++, 2)", "a"), ("NEAR(++)", "nothing"), ("title:NEAR(a b, 2)", "near(a@0 b@0 2)"),
        ("c -NEAR(a b, 2)", "(c - near(a b 2))"),
        ("NEAR(a e-mail)", "near(a e+mail 10)"), ("日本語", "日本+本語"), ("日", "日*"), ("日本*", "日本*"), ("Swift日", "swift+日*"),
        ("日本語abc", "日本+本語+語+abc"), ("NEAR(日 本語, 4)", "near(日* 本語 4)"), ("title:日本", "日本@0"), ("-日 a", "(a - 日*)"), ("กิน", "กิน"),
        ("or and near", "(or & and & near)"), ("a\"b c\"d", "(a & b+c & d)"), ("\"a\"-b", "(a & b)"), ("👍 🇩🇪", "(👍 & 🇩🇪)"),
        ("\0a\0b", "(a & b)"),
        ("\"OR\"", "or"), ("a \"AND\" b", "(a & and & b)"), ("NEAR", "near"), ("NEAR (a b)", "(near & (a & b))"), ("--title:x", "title+x"),
    ]

    @Test(arguments: correct.filter { !["++ . -", "--title:x"].contains($0.query) }) func bothReadingsAgreeOnCorrectQueries(
        query: String, meaning: String
    ) throws {
        #expect(Self.lenient(query) == meaning)
        let strict = try Search(query: query).resolved(fields: Self.fields, options: SearchOptions())
        #expect(Self.meaning(strict) == meaning)
    }

    static let mistaken: [(query: String, meaning: String, offset: Int, word: String)] = [
        ("OR a", "(or & a)", 0, "OR"), ("a OR", "(a & or)", 2, "OR"), ("a OR OR b", "((a & or) | b)", 2, "OR"),
        ("a AND", "(a & and)", 2, "AND"),
        ("a OR AND b", "(a & or & b)", 2, "OR"), ("(OR)", "or", 1, "OR"), ("a (b", "(a & b)", 2, "parenthesis"),
        ("a) b", "(a & b)", 1, "parenthesis"),
        ("() a", "a", 0, "nothing"), ("\"a b", "(a & b)", 0, "quotation"), ("a \"b c\" \"d", "(a & b+c & d)", 8, "quotation"),
        ("a - b", "(a & b)", 2, "-"),
        ("--a", "a", 0, "-"), ("a*b", "a+b", 1, "*"), ("*a", "a", 0, "*"), ("a **", "a", 2, "*"), ("*", "nothing", 0, "*"),
        ("title: a", "(title & a)", 5, "colon"), ("http://x.org/a", "http+x+org+a", 0, "title, body"), ("10:30", "10+30", 0, "10"),
        ("x:\"a b\"", "(x & a+b)", 0, "\"x\""), ("x:(a OR b)", "(x & (a | b))", 0, "\"x\""), ("-x:a b", "(b - x+a)", 1, "\"x\""),
        ("NEAR(a (b))", "(near & (a & b))", 0, "NEAR"), ("NEAR(a OR b)", "near(a or b 10)", 7, "NEAR"),
        ("NEAR(a -b)", "near(a b 10)", 7, "NEAR"),
        ("NEAR()", "nothing", 0, "NEAR"), ("NEAR(a b, 99999999999999999999)", "near(a b 1000000)", 10, "distance"),
        (":-) a", "a", 2, "parenthesis"),
    ]

    @Test(arguments: mistaken) func mistakesAreTextOrErrors(query: String, meaning: String, offset: Int, word: String) {
        #expect(Self.lenient(query) == meaning)
        let error = #expect(throws: SearchSyntaxError.self) {
            _ = try Search(query: query).resolved(fields: Self.fields, options: SearchOptions())
        }
        #expect(error?.offset == offset)
        #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
        #expect(error?.query == query)
    }

    @Test func theErrorHasTheLineAndACaret() throws {
        let error = #expect(throws: SearchSyntaxError.self) { _ = try Search(query: "größe\nswift (actor OR task") }
        #expect(error?.description == "The parenthesis is not closed\nswift (actor OR task\n      ^")
        let long = String(repeating: "wörter ", count: 1_000)
        let other = #expect(throws: SearchSyntaxError.self) { _ = try Search(query: "(" + long) }
        #expect((other?.description.count ?? .max) < 250)
        #expect(SearchSyntaxError("m", query: "abc", offset: 99).description == "m\nabc\n   ^")
    }

    @Test(arguments: correct.map(\.query) + mistaken.map(\.query)) func theDescriptionHasTheSameMeaning(query: String) throws {
        for options in [SearchOptions(), SearchOptions(stemming: .english)] {
            let description = Search(query).description
            #expect(Self.lenient(description, options) == Self.lenient(query, options), "\(description)")
            #expect(Search(description).description == description)
        }
    }

    @Test func theErrorOfAnIndexWithoutNamesSaysSo() throws {
        let search = try Search(query: "x:a")
        let error = #expect(throws: SearchSyntaxError.self) { _ = try search.resolved(fields: [], options: SearchOptions()) }
        #expect(error?.message.contains("no named fields") == true)
    }

    @Test func prefixesAreReducedToStemsToo() {
        let english = SearchOptions(stemming: .english)
        #expect(Self.lenient("Running \"happy dogs\"", english) == "(run & happi+dog)")
        #expect(Self.lenient("happy*", english) == "happi*")
    }

    @Test func longQueriesAreCutOrRejected() throws {
        let words = (0..<200).map { "w\($0)" }
        let many = words.joined(separator: " ")
        #expect(try Search(many).resolved(fields: [], options: SearchOptions()).phrases.count == 64)
        #expect(throws: SearchSyntaxError.self) { _ = try Search(query: many) }
        _ = try Search(query: words.prefix(64).joined(separator: " "))
        let phrase = "\"" + (0..<1_000).map { "w\($0)" }.joined(separator: " ") + "\" more"
        let resolved = try Search(phrase).resolved(fields: [], options: SearchOptions())
        #expect(resolved.phrases.map(\.terms.count) == [256])
        #expect(throws: SearchSyntaxError.self) { _ = try Search(query: phrase) }
        let large = String(repeating: "x", count: 65_536) + " y"
        #expect(try Search(large).resolved(fields: [], options: SearchOptions()).phrases.count == 1)
        #expect(throws: SearchSyntaxError.self) { _ = try Search(query: large) }
    }

    @Test func deepParenthesesAreCutOrRejected() throws {
        let fitting = String(repeating: "(", count: 100) + "a" + String(repeating: ")", count: 100)
        _ = try Search(query: fitting)
        let deep = String(repeating: "-(b ", count: 16_000) + String(repeating: ")", count: 1_000)
        let resolved = try Search("a " + deep).resolved(fields: [], options: SearchOptions())
        #expect(resolved.phrases.count == 64)
        #expect(throws: SearchSyntaxError.self) { _ = try Search(query: "(" + fitting + ")") }
    }

    @Test func aSearchOfManyFieldsNamesTheFirst64() throws {
        let fields = (0..<70).map { "f\($0)" }
        #expect(try Search("f63:a").resolved(fields: fields, options: SearchOptions()).phrases[0].fields == 1 << 63)
        #expect(try Search("f64:a").resolved(fields: fields, options: SearchOptions()).root == .nothing)
    }
}
