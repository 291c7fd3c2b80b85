import PolyStoreBackend

/// The texts that `LIKE` and `MATCHES` patterns select.
let patternCases: [ConformanceCase] =
    (likes + expressions).map { table in
        ConformanceCase(table.id, table.statement) { run in
            for isIndexed in [true, false] {
                let store = try run.open(Fixtures.thing(.string, isIndexed: isIndexed), "indexed-\(isIndexed)")
                try store.insert("Thing", table.texts.map { [.text($0)] } + [[.null]])
                let (thing, field) = (try store.entity("Thing"), try store.field("Thing", "value"))
                for (pattern, selected) in table.patterns {
                    let predicate = QueryPredicate.text(field, table.operation, pattern)
                    let yes = table.texts.indices.filter { selected.contains(bytes(table.texts[$0])) }
                    let no = table.texts.indices.filter { !selected.contains(bytes(table.texts[$0])) }
                    try run.expect(yes.count, equals: selected.count, "the case searches for existing texts")
                    try run.expect(
                        try store.ids(FetchRequest(thing, predicate: predicate)), equals: yes.map { Int64($0 + 1) },
                        "\(predicate), indexed \(isIndexed)")
                    try run.expect(
                        try store.ids(FetchRequest(thing, predicate: .not(predicate))), equals: no.map { Int64($0 + 1) }, "NOT \(predicate)"
                    )
                    try run.expect(
                        try store.read { try $0.count(FetchRequest(thing, predicate: predicate)) }, equals: yes.count,
                        "count of \(predicate)")
                }
            }
            guard table.operation == .like else { return }
            // The same patterns as values of another attribute, which prevents simplification.
            let rows = table.patterns.flatMap { pattern, selected in table.texts.map { ($0, pattern, selected.contains(bytes($0))) } }
            let store = try pairs(run, rows.map { ($0.0, $0.1) })
            let predicate = QueryPredicate.text(.field(try store.field("Pair", "text")), .like, .field(try store.field("Pair", "pattern")))
            try run.expect(
                try store.ids(FetchRequest(try store.entity("Pair"), predicate: predicate)),
                equals: rows.indices.filter { rows[$0].2 }.map { Int64($0 + 1) }, "patterns of an attribute")
        }
    } + [
        ConformanceCase("text.like.needs-text", "LIKE and MATCHES on anything but text throw invalidPredicate.") { run in
            for type in [AttributeType.int64, .double, .data, .uuid, .decimal, .bool, .date] {
                let store = try run.open(Fixtures.thing(type), type.rawValue)
                let (thing, field) = (try store.entity("Thing"), try store.field("Thing", "value"))
                for pattern in ["1", "?", "*", "a?"] {
                    for operation in [TextOperator.like, .matches] where operation == .like || pattern == "1" {
                        // A pattern without special characters is an equality, which is also invalid for the type.
                        try run.expectError(.invalidPredicate, "\(type) \(operation.rawValue) \(pattern)") {
                            try store.ids(FetchRequest(thing, predicate: .text(field, operation, pattern)))
                        }
                    }
                }
            }
        },
        ConformanceCase(
            "text.like.pattern-of-another-attribute", "A pattern can be an attribute with a different value per object; null is unknown."
        ) {
            run in
            let store = try pairs(
                run, [("abc", "a*"), ("abc", "b*"), (nil, "*"), ("abc", nil), ("a*", "a\\*"), ("ab", "a\\*"), ("x?", "??")])
            let pair = try store.entity("Pair")
            let predicate = QueryPredicate.text(
                .field(try store.field("Pair", "text")), .like, .field(try store.field("Pair", "pattern")))
            try run.expect(try store.ids(FetchRequest(pair, predicate: predicate)), equals: [1, 5, 7])
            try run.expect(try store.ids(FetchRequest(pair, predicate: .not(predicate))), equals: [2, 6])
        },
        ConformanceCase("text.like.of-null-is-unknown", "A null pattern selects nothing, and neither does its negation.") { run in
            let store = try pairs(run, [("abc", nil), ("", nil)])
            let pair = try store.entity("Pair")
            for operation in [TextOperator.like, .contains, .beginsWith, .endsWith] {
                let predicate = QueryPredicate.text(.field(try store.field("Pair", "text")), operation, .constant(.null, .string))
                try run.expect(try store.ids(FetchRequest(pair, predicate: predicate)), equals: [], operation.rawValue)
                try run.expect(try store.ids(FetchRequest(pair, predicate: .not(predicate))), equals: [], "NOT \(operation.rawValue)")
            }
        },
        ConformanceCase("text.like.many-stars", "A pattern with many stars is evaluated on a long text.") { run in
            let store = try run.open(Fixtures.thing(.string))
            let long = String(repeating: "ab", count: 2000)
            try store.insert("Thing", [[.text(long)], [.text(long + "c")], [.text("c")]])
            let (thing, field) = (try store.entity("Thing"), try store.field("Thing", "value"))
            let pattern = String(repeating: "a*", count: 40) + "c"
            try run.expect(try store.ids(FetchRequest(thing, predicate: .text(field, .like, pattern))), equals: [2])
        },
        ConformanceCase("text.like.beside-others", "Patterns work with other conditions, under NOT and over relationships.") { run in
            let store = try Works.start.open(run)
            func like(_ pattern: String) throws -> QueryPredicate { .text(try store.field("name"), .like, pattern) }
            try run.expect(try store.ids("Worker", .and([like("?d?"), store.compare("age", .less, .integer(30))])), equals: [2])
            try run.expect(try store.ids("Worker", .or([like("?d?"), store.compare("age", .equal, .integer(0))])), equals: [1, 2, 7])
            try run.expect(try store.ids("Worker", .not(.or([like("?d?"), like("*s*")]))), equals: [3, 7, 8, 9, 10])
            try run.expect(try store.ids("Worker", store.one("boss", like("A?a"))), equals: [2, 3])
            try run.expect(try store.ids("Worker", store.any("friends", like("?o?"))), equals: [1, 4])
            try run.expect(
                try store.ids("Worker", .not(store.all("clubs", .text(store.field("Club.name"), .like, "?*d*")))), equals: [1, 2, 5, 7])
        },
        ConformanceCase(
            "text.matches.not-a-regular-expression", "An invalid regular expression throws invalidPredicate, wherever it is."
        ) {
            run in
            let store = try Works.start.open(run)
            for pattern in ["[", "(", "a)", "*", "a{2", "\\", "(?<n", "a{3,1}"] {
                let wrong = QueryPredicate.text(try store.field("name"), .matches, pattern)
                let candidates: [QueryPredicate] = [
                    wrong, .not(wrong), .and([try store.compare("age", .equal, .integer(-1000)), wrong]), try store.one("boss", wrong),
                    try store.any("friends", wrong),
                    .compare(try store.count("friends", where: wrong), .less, .constant(.integer(0), .int64)),
                    .text(.folded(try store.value("name"), .caseInsensitive), .matches, .constant(.text(pattern), .string)),
                ]
                for candidate in candidates {
                    try run.expectError(.invalidPredicate, "\(candidate)") { try store.ids("Worker", candidate) }
                    try run.expectError(.invalidPredicate, "count of \(candidate)") {
                        try store.store.read { try $0.count(try store.request("Worker", candidate)) }
                    }
                }
            }
        },
        ConformanceCase("text.matches.pattern-is-constant", "A regular expression that is not constant throws invalidPredicate.") { run in
            let store = try pairs(run, [("abc", "a.*")])
            let (text, pattern) = (try store.field("Pair", "text"), try store.field("Pair", "pattern"))
            try run.expectError(.invalidPredicate) {
                try store.ids(FetchRequest(try store.entity("Pair"), predicate: .text(.field(text), .matches, .field(pattern))))
            }
            try run.expectError(.invalidPredicate, "null") {
                try store.ids(FetchRequest(try store.entity("Pair"), predicate: .text(.field(text), .matches, .constant(.null, .string))))
            }
        },
    ]

private struct Table: Sendable {
    let id: String
    let statement: String
    let operation: TextOperator
    let texts: [String]
    /// The texts that each pattern selects, as bytes: canonically equivalent texts are distinct.
    let patterns: [(String, Set<[UInt8]>)]

    init(_ id: String, _ statement: String, _ operation: TextOperator, _ texts: [String], _ patterns: KeyValuePairs<String, [String]>) {
        self.id = id
        self.statement = statement
        self.operation = operation
        self.texts = texts
        self.patterns = patterns.map { ($0.key, Set($0.value.map(bytes))) }
    }
}

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

private let abc = ["", "a", "A", "ab", "abc", "abcabc", "b", "bc", "cab"]

private let likes: [Table] = [
    Table(
        "text.like.star", "A star matches any number of scalars, including none.", .like, abc,
        [
            "*": abc, "a*": ["a", "ab", "abc", "abcabc"], "*b": ["ab", "b", "cab"], "*bc*": ["abc", "abcabc", "bc"],
            "a*c": ["abc", "abcabc"], "*a*b*": ["ab", "abc", "abcabc", "cab"], "**": abc, "a**b": ["ab"], "*a*b*c*a*": ["abcabc"],
        ]),
    Table(
        "text.like.question-mark", "A question mark matches one scalar.", .like, abc,
        [
            "?": ["a", "A", "b"], "??": ["ab", "bc"], "a?": ["ab"], "?b": ["ab"], "?b?": ["abc"], "?*": Array(abc.dropFirst()),
            "*?": Array(abc.dropFirst()), "???*": ["abc", "abcabc", "cab"], "?a?": ["cab"],
        ]),
    Table(
        "text.like.whole-text", "Without special characters, the pattern must equal the whole text, including its case.", .like, abc,
        ["": [""], "abc": ["abc"], "A": ["A"], "bca": [], "B": []]),
    Table(
        "text.like.escapes", "A backslash escapes the next character.", .like,
        ["a*b", "a?b", "axb", "a\\b", "a\\*b", "ab", "*", "?", "\\"],
        [
            "a\\*b": ["a*b"], "a\\?b": ["a?b"], "a\\\\b": ["a\\b"], "a\\\\\\*b": ["a\\*b"], "\\*": ["*"], "\\?": ["?"], "\\\\": ["\\"],
            "a\\xb": ["axb"], "*\\**": ["a*b", "a\\*b", "*"], "*\\?*": ["a?b", "?"], "?\\\\*": ["a\\b", "a\\*b"],
            "\\a*": ["a*b", "a?b", "axb", "a\\b", "a\\*b", "ab"],
        ]),
    Table(
        "text.like.backslash-at-the-end", "A backslash at the end matches itself.", .like, ["a", "a\\", "\\", "a\\b"],
        ["a\\": ["a\\"], "\\": ["\\"], "*\\": ["a\\", "\\"], "?\\": ["a\\"]]),
    Table(
        "text.like.nothing-else-is-special", "Percent, underscore, brackets, dots and quotes match themselves.", .like,
        ["a%c", "a_c", "abc", "[abc]", "a.c", "it's", "\"", "^a$"],
        [
            "a%c": ["a%c"], "a_c": ["a_c"], "a%*": ["a%c"], "?_?": ["a_c"], "[abc]*": ["[abc]"], "a.c*": ["a.c"], "*'*": ["it's"],
            "*\"*": ["\""], "^*$": ["^a$"],
        ]),
    Table(
        "text.like.scalars", "A question mark matches one Unicode scalar of any size; a combining mark is a separate scalar.", .like,
        ["é", "e\u{301}", "e", "日本", "🦊", "👩\u{200d}👧", "a\u{0}b", "a\nb"],
        [
            "?": ["é", "e", "🦊"], "??": ["e\u{301}", "日本"], "e*": ["e\u{301}", "e"], "é": ["é"], "*\u{301}": ["e\u{301}"],
            "日?": ["日本"], "👩*": ["👩\u{200d}👧"], "???": ["👩\u{200d}👧", "a\u{0}b", "a\nb"], "a?b": ["a\u{0}b", "a\nb"],
            "a*b": ["a\u{0}b", "a\nb"],
        ]),
]

private let expressions: [Table] = [
    Table(
        "text.matches.whole-text", "The regular expression must match the whole text.", .matches, abc,
        [
            "a": ["a"], "a.*": ["a", "ab", "abc", "abcabc"], "b": ["b"], ".*b.*": ["ab", "abc", "abcabc", "b", "bc", "cab"], "": [""],
            ".+": Array(abc.dropFirst()),
        ]),
    Table(
        "text.matches.alternatives", "Alternatives match the whole text too.", .matches, abc,
        [
            "a|bc": ["a", "bc"], "(a|b)": ["a", "b"], "a|": ["", "a"], "ab|abc": ["ab", "abc"], "(abc)+": ["abc", "abcabc"],
            "(abc){2}": ["abcabc"],
        ]),
    Table(
        "text.matches.classes", "Classes, their negation, and counts.", .matches, ["a1", "b22", "c", "9", "A1", " ", "é"],
        [
            "[a-c]\\d+": ["a1", "b22"], "[^0-9]": ["c", " ", "é"], "\\w": ["c", "9", "é"], "\\s": [" "], "[A-Za-z]\\d{1}": ["a1", "A1"],
            "\\d*": ["9"],
        ]),
    Table(
        "text.matches.anchors", "Anchors have no effect, and special characters are escaped with a backslash.", .matches,
        ["abc", "a.c", "a*", "$"],
        ["^abc$": ["abc"], "a\\.c": ["a.c"], "a.c": ["abc", "a.c"], "a\\*": ["a*"], "\\$": ["$"], "^.*$": ["abc", "a.c", "a*", "$"]]),
    Table(
        "text.matches.lines", "A dot matches no newline, and the end of the text is not before one.", .matches, ["a", "a\n", "a\nb", "b"],
        ["a": ["a"], "a.b": [], "a\\nb": ["a\nb"], "a\\n": ["a\n"], "(?s)a.*": ["a", "a\n", "a\nb"], "(?s).": ["a", "b"]]),
    Table(
        "text.matches.case", "Matching is case-sensitive unless the expression specifies otherwise.", .matches,
        ["abc", "ABC", "aBc", "ÉA"],
        ["abc": ["abc"], "(?i)abc": ["abc", "ABC", "aBc"], "[A-Z]+": ["ABC"], "(?i)éa": ["ÉA"]]),
    Table(
        "text.matches.scalars", "A dot matches one Unicode scalar of any size.", .matches, ["é", "e\u{301}", "🦊", "日本", "\u{0}"],
        [".": ["é", "🦊", "\u{0}"], "..": ["e\u{301}", "日本"], "e.": ["e\u{301}"], "é": ["é"], "🦊+": ["🦊"], "\\x{1F98A}": ["🦊"]]),
]

/// Opens a store of pairs of a text and a pattern.
private func pairs(_ run: ConformanceRun, _ rows: [(String?, String?)]) throws -> TestStore {
    let store = try run.open(
        SchemaDescription(
            name: "Pairs",
            entities: [
                EntityDescription(
                    name: "Pair",
                    properties: ["text", "pattern"].map { .attribute(AttributeDescription(name: $0, type: .string, isOptional: true)) })
            ]))
    try store.insert("Pair", rows.map { [$0.0.map { .text($0) } ?? .null, $0.1.map { .text($0) } ?? .null] })
    return store
}
