import PolyStoreBackend

/// Texts folded by case and diacritics, and their use in conditions and sort orders.
let foldedTextCases: [ConformanceCase] =
    foldings.map { folding in
        ConformanceCase("text.folded.\(folding.name)", folding.statement) { run in
            let store = try run.open(Fixtures.thing(.string))
            try store.insert("Thing", folding.rows.map { [.text($0.0)] } + [[.null]])
            let (thing, field) = (try store.entity("Thing"), try store.field("Thing", "value"))
            for (options, position) in [
                (TextOptions.caseInsensitive, 0), (.diacriticInsensitive, 1), ([.caseInsensitive, .diacriticInsensitive], 2),
            ] {
                let folded = QueryExpression.folded(.field(field), options)
                let expected = folding.rows.map { [$0.1, $0.2, $0.3][position] }
                for text in expected {
                    let same = expected.indices.filter { Array(expected[$0].utf8) == Array(text.utf8) }.map { Int64($0 + 1) }
                    let constant = QueryExpression.constant(.text(text), .string)
                    let ends: [(QueryPredicate, String)] = [
                        (.compare(folded, .equal, constant), "equal"), (.oneOf(folded, [.text(text)]), "in"),
                        (.not(.compare(folded, .notEqual, constant)), "not unequal"),
                    ]
                    for (predicate, what) in ends {
                        try run.expect(
                            try store.ids(FetchRequest(thing, predicate: predicate)), equals: same,
                            "[\(options.letters)] \(what) \(text.unicodeScalars.map { String($0.value, radix: 16) })")
                    }
                }
                // Folding the constant on the other side gives the same result.
                for (index, row) in folding.rows.enumerated() {
                    let found = try store.ids(
                        FetchRequest(thing, predicate: .compare(folded, .equal, .folded(.constant(.text(row.0), .string), options))))
                    try run.expect(found.contains(Int64(index + 1)), "\(row.0) is not what it is itself, [\(options.letters)]")
                }
            }
        }
    } + [
        ConformanceCase("text.folded.ascii-in-one-step", "ASCII texts are folded like other texts.") { run in
            let store = try run.open(Fixtures.thing(.string))
            let ascii = (0..<128).compactMap { Unicode.Scalar($0) }.map { String(Character($0)) }
            // The suffix makes the text non-ASCII and is not folded.
            try store.insert("Thing", ascii.map { [.text($0)] } + ascii.map { [.text($0 + "日")] })
            let (thing, field) = (try store.entity("Thing"), try store.field("Thing", "value"))
            for options in [TextOptions.caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive]] {
                for (index, text) in ascii.enumerated() {
                    let letter = options.contains(.caseInsensitive) && ("A"..."Z").contains(text) ? text.lowercased() : text
                    let same = ascii.indices.filter {
                        let other = ascii[$0]
                        return (options.contains(.caseInsensitive) && ("A"..."Z").contains(other) ? other.lowercased() : other) == letter
                    }
                    for (behind, offset) in [("", 1), ("日", 129)] {
                        let predicate = QueryPredicate.compare(
                            .folded(.field(field), options), .equal, .constant(.text(letter + behind), .string))
                        try run.expect(
                            try store.ids(FetchRequest(thing, predicate: predicate)), equals: same.map { Int64($0 + offset) },
                            "scalar \(index)\(behind) [\(options.letters)]")
                    }
                }
            }
        },
        ConformanceCase("text.folded.operators", "Text operators work on folded texts: begins, ends, contains, like, matches.") { run in
            let store = try run.open(Fixtures.thing(.string))
            try store.insert("Thing", ["Ängström", "angst", "STRÖM", "xANGx", "日Ä"].map { [.text($0)] } + [[.null]])
            let (thing, field) = (try store.entity("Thing"), try store.field("Thing", "value"))
            let both: TextOptions = [.caseInsensitive, .diacriticInsensitive]
            let table: [(TextOptions, TextOperator, String, [Int64])] = [
                (both, .beginsWith, "ang", [1, 2]), (.caseInsensitive, .beginsWith, "ang", [2]),
                (.diacriticInsensitive, .beginsWith, "Ang", [1]),
                (both, .endsWith, "strom", [1, 3]), (.caseInsensitive, .endsWith, "ström", [1, 3]), (both, .contains, "ang", [1, 2, 4]),
                (both, .contains, "ANG", []), (both, .like, "?ng*", [1, 2]), (.caseInsensitive, .like, "?ang?", [4]),
                (both, .matches, "[a-z]+", [1, 2, 3, 4]), (.caseInsensitive, .matches, "[a-z]+", [2, 4]), (both, .like, "日?", [5]),
            ]
            for (options, operation, wanted, expected) in table {
                let predicate = QueryPredicate.text(.folded(.field(field), options), operation, .constant(.text(wanted), .string))
                try run.expect(try store.ids(FetchRequest(thing, predicate: predicate)), equals: expected, "\(predicate)")
                try run.expect(
                    try store.ids(FetchRequest(thing, predicate: .not(predicate))),
                    equals: (1...5).map { Int64($0) }.filter { !expected.contains($0) }, "NOT \(predicate)")
            }
        },
        ConformanceCase("text.folded.comparisons", "Folded texts are compared by their bytes.") { run in
            let store = try run.open(Fixtures.thing(.string))
            try store.insert("Thing", ["b", "A", "É", "e", "Z", ""].map { [.text($0)] })
            let (thing, field) = (try store.entity("Thing"), try store.field("Thing", "value"))
            let table: [(TextOptions, ComparisonOperator, String, [Int64])] = [
                (.caseInsensitive, .less, "e", [1, 2, 6]), (.caseInsensitive, .greater, "e", [3, 5]),
                ([.caseInsensitive, .diacriticInsensitive], .greaterOrEqual, "e", [3, 4, 5]),
                (.diacriticInsensitive, .less, "a", [2, 3, 5, 6]),
                (.caseInsensitive, .lessOrEqual, "a", [2, 6]), (.caseInsensitive, .notEqual, "z", [1, 2, 3, 4, 6]),
            ]
            for (options, comparison, wanted, expected) in table {
                let predicate = QueryPredicate.compare(.folded(.field(field), options), comparison, .constant(.text(wanted), .string))
                try run.expect(try store.ids(FetchRequest(thing, predicate: predicate)), equals: expected, "\(predicate)")
            }
        },
        ConformanceCase(
            "text.folded.over-relationships", "Texts of related objects are folded like the object's own, and can be compared with them."
        ) { run in
            let store = try Works.start.open(run)
            let (name, boss) = (try store.value("name"), try store.related("boss", store.value("name")))
            let spouse = try store.related("spouse", store.value("name"))
            let same = QueryPredicate.compare(.folded(name, .caseInsensitive), .equal, .folded(spouse, .caseInsensitive))
            try run.expect(try store.ids("Worker", same), equals: [1, 2])
            try run.expect(try store.ids("Worker", .not(same)), equals: [6, 7])
            let both: TextOptions = [.caseInsensitive, .diacriticInsensitive]
            try run.expect(
                try store.ids("Worker", .compare(.folded(name, both), .equal, .folded(boss, both))), equals: [2, 6, 7])
            let any = try store.any("reports", .compare(.folded(name, both), .equal, .constant(.text("angstrom"), .string)))
            try run.expect(try store.ids("Worker", any), equals: [5])
        },
        ConformanceCase("text.folded.needs-text", "Folding anything but text throws invalidPredicate.") { run in
            let store = try Works.start.open(run)
            for path in ["age", "score", "level", "born", "id"] {
                let folded = QueryExpression.folded(try store.value(path), .caseInsensitive)
                try run.expectError(.invalidPredicate, path) { try store.ids("Worker", .isNull(folded)) }
                try run.expectError(.invalidPredicate, "order by \(path)") {
                    var request = try store.request("Worker", .all)
                    request.sortKeys = [SortKey(folded)]
                    return try store.store.ids(request)
                }
            }
        },
    ]

/// Texts and their folded forms for `[c]`, `[d]` and both.
private let foldings: [(name: String, statement: String, rows: [(String, String, String, String)])] = [
    (
        "ascii", "ASCII letters become lowercase; none has a diacritic.",
        [("Ada", "ada", "Ada", "ada"), ("ADA", "ada", "ADA", "ada"), ("a-Z_0", "a-z_0", "a-Z_0", "a-z_0"), ("", "", "", "")]
    ),
    (
        "letters-with-marks", "Precomposed letters lose their diacritics.",
        [
            ("É", "é", "E", "e"), ("é", "é", "e", "e"), ("Ångström", "ångström", "Angstrom", "angstrom"), ("ñ", "ñ", "n", "n"),
            ("Ё", "ё", "Е", "е"),
        ]
    ),
    (
        "combining-marks", "Combining marks after a letter are removed; a mark without a letter is kept.",
        [
            ("e\u{301}", "e\u{301}", "e", "e"), ("E\u{301}", "e\u{301}", "E", "e"), ("A\u{327}\u{301}", "a\u{327}\u{301}", "A", "a"),
            ("\u{301}", "\u{301}", "\u{301}", "\u{301}"),
        ]
    ),
    (
        "sharp-s", "ß folds to ss without case, and has no diacritic.",
        [("ß", "ss", "ß", "ss"), ("SS", "ss", "SS", "ss"), ("Straße", "strasse", "Straße", "strasse"), ("ẞ", "ss", "ẞ", "ss")]
    ),
    (
        "dotted-i", "The dot of İ is a diacritic that is kept without [d]; ı has none.",
        [("İ", "i\u{307}", "I", "i"), ("I", "i", "I", "i"), ("i", "i", "i", "i"), ("ı", "ı", "ı", "ı")]
    ),
    (
        "sigma", "Every sigma folds to σ without case.",
        [("Σ", "σ", "Σ", "σ"), ("ς", "σ", "ς", "σ"), ("σ", "σ", "σ", "σ"), ("ΟΔΟΣ", "οδοσ", "ΟΔΟΣ", "οδοσ")]
    ),
    (
        "not-marks", "Parts of a letter are not diacritics, and other scripts are unchanged.",
        [
            ("Øl", "øl", "Øl", "øl"), ("ł", "ł", "ł", "ł"), ("日本", "日本", "日本", "日本"), ("が", "が", "が", "が"),
            ("👩\u{200d}👧", "👩\u{200d}👧", "👩\u{200d}👧", "👩\u{200d}👧"),
        ]
    ),
    (
        "ligatures", "A ligature folds to its letters without case.",
        [("ﬁ", "fi", "ﬁ", "fi"), ("FI", "fi", "FI", "fi"), ("Ǆ", "ǆ", "Ǆ", "ǆ")]
    ),
]
