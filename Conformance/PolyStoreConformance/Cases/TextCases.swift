import PolyStoreBackend

/// Text conditions, which compare bytes and have no special characters.
let textCases: [ConformanceCase] =
    [TextOperator.contains, .beginsWith, .endsWith].flatMap { operation in
        [
            ConformanceCase("text.\(operation.name).by-bytes", "\(operation.rawValue) compares bytes; case and diacritics matter.") {
                run in
                for isIndexed in [true, false] {
                    let store = try run.open(Fixtures.thing(.string, isIndexed: isIndexed), "indexed-\(isIndexed)")
                    try store.insert("Thing", texts.map { [.text($0)] } + [[.null]])
                    let thing = try store.entity("Thing")
                    for pattern in patterns {
                        let expected = texts.indices.filter { operation.accepts(Array(texts[$0].utf8), Array(pattern.utf8)) }.map {
                            Int64($0 + 1)
                        }
                        let predicate = QueryPredicate.text(FieldReference(thing.fields[0]), operation, pattern)
                        try run.expect(
                            try store.ids(FetchRequest(thing, predicate: predicate)), equals: expected, "\(predicate), indexed \(isIndexed)"
                        )
                        try run.expect(
                            try store.ids(FetchRequest(thing, predicate: .not(predicate))),
                            equals: texts.indices.map { Int64($0 + 1) }.filter { !expected.contains($0) }, "NOT \(predicate)")
                    }
                }
            },
            ConformanceCase("text.\(operation.name).needs-text", "\(operation.rawValue) on anything but text throws invalidPredicate.") {
                run in
                for type in [AttributeType.int64, .double, .data, .uuid, .decimal] {
                    let store = try run.open(Fixtures.thing(type), type.rawValue)
                    let thing = try store.entity("Thing")
                    try run.expectError(.invalidPredicate, "\(type)") {
                        try store.ids(FetchRequest(thing, predicate: .text(FieldReference(thing.fields[0]), operation, "1")))
                    }
                }
            },
        ]
    } + [
        ConformanceCase("text.hostile.is-only-text", "Strings that look like queries select only themselves.") { run in
            let hostile = [
                "' OR '1'='1", "\"; DROP TABLE Thing; --", "x') OR 1=1 --", "\\", "\\'", "%", "_", "?1", ":name", "@p", "$1", "/*", "*/",
                "--", ";", "\u{0}' OR 1",
            ]
            let store = try run.open(Fixtures.thing(.string))
            try store.insert("Thing", hostile.map { [.text($0)] } + [[.text("innocent")]])
            let thing = try store.entity("Thing")
            let field = FieldReference(thing.fields[0])
            for (index, text) in hostile.enumerated() {
                try run.expect(
                    try store.ids(FetchRequest(thing, predicate: .compare(field, .equal, .text(text)))), equals: [Int64(index + 1)], text)
                try run.expect(
                    try store.ids(FetchRequest(thing, predicate: .oneOf(field, [.text(text)]))), equals: [Int64(index + 1)], text)
            }
            try run.expect(try store.read { try $0.count(FetchRequest(thing)) }, equals: hostile.count + 1)
        },
        ConformanceCase("text.begins-with.highest-scalars", "A prefix of the highest scalars finds the texts that begin with it.") { run in
            let store = try run.open(Fixtures.thing(.string))
            let values = ["\u{10ffff}", "\u{10ffff}\u{10ffff}", "\u{10ffff}a", "\u{10fffe}", "\u{ffff}", "a"]
            try store.insert("Thing", values.map { [.text($0)] })
            let thing = try store.entity("Thing")
            let predicate = QueryPredicate.text(FieldReference(thing.fields[0]), .beginsWith, "\u{10ffff}")
            try run.expect(try store.ids(FetchRequest(thing, predicate: predicate)), equals: [1, 2, 3])
        },
    ]

private let texts = [
    "", "a", "A", "abc", "aBc", "ABC", "xabcx", "abcabc", "a%c", "a_c", "a*c", "a?c", "a\\c", "it's", "say \"hi\"", "a\u{0}b", "\u{0}", "é",
    "e\u{301}",
    "café", "日本語", "日本", "🦊", "👩‍👩‍👧", "[abc]", "^a.c$",
]
private let patterns = [
    "", "a", "A", "abc", "bc", "%", "_", "a%", "*", "?", "\\", "'", "\"", "\u{0}", "a\u{0}", "é", "e", "\u{301}", "日", "本", "🦊", "👩",
    "\u{200d}", "[", "^", ".", "zzz",
    "abcabcabc",
]

extension TextOperator {
    fileprivate var name: String {
        switch self {
        case .contains: "contains"
        case .beginsWith: "begins-with"
        case .endsWith: "ends-with"
        case .like, .matches: rawValue.lowercased()
        }
    }

    /// Returns whether a text satisfies the operator, by a naive implementation.
    fileprivate func accepts(_ text: [UInt8], _ pattern: [UInt8]) -> Bool {
        switch self {
        case .beginsWith: text.starts(with: pattern)
        case .endsWith: text.count >= pattern.count && Array(text.suffix(pattern.count)) == pattern
        case .like, .matches: false
        case .contains:
            text.count >= pattern.count && (0...(text.count - pattern.count)).contains { Array(text[$0..<$0 + pattern.count]) == pattern }
        }
    }
}
