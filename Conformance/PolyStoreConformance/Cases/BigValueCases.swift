import PolyStoreBackend

/// Texts and data near and far above the sizes that engines store unsplit.
let bigValueCases: [ConformanceCase] =
    sizes.map { name, size in
        ConformanceCase("big.of-\(name).there-and-back", "Text and data of \(size) bytes are kept, and can shrink, grow and be deleted.") {
            run in
            let store = try documents(run)
            let document = try store.entity("Document")
            let (text, data) = (text(size, seed: 3), data(size, seed: 5))
            let small = row("a", 1, .text("small"), .blob([1]))
            let big = row("b", 2, text, data)
            try store.insert("Document", [small, big, row("c", 3)])
            func check(_ expected: [Value], _ what: String) throws {
                try run.expect(try store.row("Document", 2) == expected, "\(size) bytes, \(what)")
                let all = try store.read { try $0.rows(FetchRequest(document)) }
                try run.expect(all == [small, expected, row("c", 3)], "\(size) bytes, in a walk, \(what)")
            }
            try check(big, "inserted")
            try store.change { try $0.update(document, rowID: 2, ["number": .integer(20)]) }
            try check(row("b", 20, text, data), "after an update of another field")
            try store.change { try $0.update(document, rowID: 2, ["text": .text("x"), "data": .blob([])]) }
            try check(row("b", 20, .text("x"), .blob([])), "made small")
            try store.change { try $0.update(document, rowID: 2, ["data": data]) }
            try check(row("b", 20, .text("x"), data), "big again, the data")
            try store.change { try $0.update(document, rowID: 2, ["text": text, "data": .null]) }
            try check(row("b", 20, text, .null), "big again, the text")
            try store.change { $0.delete(document, rowID: 2) }
            try run.expect(try store.read { try $0.rows(FetchRequest(document)) }, equals: [small, row("c", 3)], "deleted")
        }
    } + [
        ConformanceCase("big.several.in-one-record", "Several large fields of a record are independent, also when one is resized.") { run in
            let store = try documents(run)
            let document = try store.entity("Document")
            var expected = row("n", 1, text(70_000, seed: 1), data(1_000_000, seed: 2), text(65_536, seed: 3))
            try store.insert("Document", [expected])
            let changes: [(String, Value)] = [
                ("data", data(3, seed: 4)), ("text", text(300_000, seed: 5)), ("extra", text(1, seed: 6)), ("data", data(65_537, seed: 7)),
                ("text", .null), ("extra", text(1_000_000, seed: 8)), ("text", .text("")),
            ]
            for (name, value) in changes {
                guard let field = document.field(named: name) else { throw run.fail("no field \(name)") }
                expected[field.index] = value
                try store.change { try $0.update(document, rowID: 1, KeyValuePairs(dictionaryLiteral: (name, value))) }
                try run.expect(try store.row("Document", 1) == expected, "after \(name) of \(value.literal)")
            }
        },
        ConformanceCase("big.text.of-many-bytes-a-character", "Multibyte characters are stored unchanged wherever a value is split.") {
            run in
            let store = try documents(run)
            for (index, character) in ["é", "€", "👩", "e\u{301}"].enumerated() {
                for shift in 0..<4 {
                    let value = Value.text(String(repeating: "a", count: shift) + String(repeating: character, count: 40_000))
                    let id = Int64(index * 4 + shift + 1)
                    try store.change { try $0.insert(try store.entity("Document"), rowID: id, row("\(id)", id, value)) }
                    try run.expect(try store.row("Document", id)?[2] == value, "\(character) after \(shift) bytes")
                }
            }
        },
        ConformanceCase(
            "big.filter.on-another-field", "Conditions, orders and counts work on records with large values, which stay complete."
        ) { run in
            let store = try documents(run)
            let document = try store.entity("Document")
            let rows = (0..<24).map { number in
                row(
                    "n\(number % 6)", Int64(number * 5 % 24), number % 3 == 0 ? text(100_000, seed: number) : .text("t\(number)"),
                    data(66_000, seed: number))
            }
            try store.insert("Document", rows)
            let (name, number) = (try store.field("Document", "name"), try store.field("Document", "number"))
            let listed: [Value] = (0..<700).map { .text("n\($0 * 2)") }
            for predicate in [
                QueryPredicate.compare(number, .less, .integer(9)), .compare(name, .equal, .text("n3")), .oneOf(name, listed),
            ] {
                for order in [[], [SortKey(number, ascending: false)], [SortKey(name), SortKey(number)]] {
                    var request = FetchRequest(document, predicate: predicate, sortKeys: order, limit: 5, offset: 1)
                    let ids = try store.ids(request)
                    try run.expect(ids.count == 3 || ids.count == 5, "\(ids.count) rows")
                    let found = try store.read { try $0.rows(request) }
                    try run.expect(found == ids.map { rows[Int($0) - 1] }, "\(predicate) by \(order.map(\.field.name))")
                    request.fields = FieldMask(first: 2)
                    let parts = try store.read { transaction in
                        let cursor = try transaction.fetch(request)
                        defer { cursor.close() }
                        var parts: [[Value]] = []
                        while try cursor.next() { parts.append(document.fields[..<2].map { cursor.record.value($0) }) }
                        return parts
                    }
                    try run.expect(parts, equals: ids.map { Array(rows[Int($0) - 1][..<2]) }, "without the big fields")
                }
            }
        },
        ConformanceCase("big.filter.on-the-value-itself", "Comparisons and searches cover all bytes of a large value.") { run in
            let store = try documents(run)
            let document = try store.entity("Document")
            let common = String(repeating: "abcdefgh", count: 20_000)
            let texts = [common + "1", common + "2", common, "x" + common]
            try store.insert("Document", texts.enumerated().map { row("\($0)", 1, .text($1), .blob(Array($1.utf8))) })
            let (text, data) = (try store.field("Document", "text"), try store.field("Document", "data"))
            let expected: [(QueryPredicate, [Int64])] = [
                (.compare(text, .equal, .text(texts[1])), [2]), (.compare(text, .greater, .text(texts[0])), [2, 4]),
                (.compare(text, .less, .text(texts[0])), [3]), (.oneOf(text, [.text(texts[0]), .text(common + "3")]), [1]),
                (.text(text, .endsWith, "gh2"), [2]), (.text(text, .contains, "h1"), [1]), (.text(text, .beginsWith, common), [1, 2, 3]),
                (.text(text, .endsWith, common), [3, 4]), (.compare(data, .equal, .blob(Array(texts[3].utf8))), [4]),
                (.compare(data, .lessOrEqual, .blob(Array(texts[0].utf8))), [1, 3]), (.isNull(text), []),
            ]
            for (predicate, ids) in expected {
                try run.expect(try store.ids(FetchRequest(document, predicate: predicate)), equals: ids, "\(predicate)")
            }
            try run.expect(try store.ids(FetchRequest(document, sortKeys: [SortKey(data, ascending: false)])), equals: [4, 2, 1, 3])
        },
        ConformanceCase("big.snapshot.keeps-old-values", "A reader still sees a large value that was changed or deleted later.") { run in
            let store = try documents(run)
            let document = try store.entity("Document")
            let old = [row("a", 1, text(200_000, seed: 1)), row("b", 2, text(1_000_000, seed: 2))]
            try store.insert("Document", old)
            let reader = try store.backend.beginRead()
            defer { reader.end() }
            try store.change { changes in
                try changes.update(document, rowID: 1, ["text": text(200_000, seed: 9)])
                changes.delete(document, rowID: 2)
            }
            // Reuses the space of deleted values.
            try store.change { try $0.insert(document, rowID: 3, row("c", 3, text(1_000_000, seed: 3))) }
            try run.expect(try reader.rows(FetchRequest(document)) == old, "the reader's cursor")
            try run.expect(try reader.row(document, 2) == old[1], "the reader's record")
            try run.expect(try store.row("Document", 1)?[2] == text(200_000, seed: 9), "a new reader")
        },
        ConformanceCase("big.refused.leaves-the-old", "A failed change set and a rollback leave large values unchanged.") { run in
            let store = try documents(run)
            let document = try store.entity("Document")
            let old = row("a", 1, text(500_000, seed: 1), data(70_000, seed: 2))
            try store.insert("Document", [old])
            let transaction = try store.backend.beginWrite()
            let bad = ChangeSet(store.schema)
            try bad.update(document, rowID: 1, ["text": text(600_000, seed: 3), "data": .null])
            bad.delete(document, rowID: 99)
            try run.expectError(.notFound) { try transaction.apply(bad) }
            try run.expect(try transaction.row(document, 1) == old, "after a failure")
            let good = ChangeSet(store.schema)
            try good.update(document, rowID: 1, ["text": text(5, seed: 3), "data": data(2_000_000, seed: 4)])
            try transaction.apply(good)
            try run.expect(try transaction.row(document, 1)?[3] == data(2_000_000, seed: 4), "inside")
            transaction.rollback()
            try run.expect(try store.row("Document", 1) == old, "after the rollback")
        },
        ConformanceCase("big.deleted.many-times", "Large values that are repeatedly inserted and deleted leave no visible traces.") { run in
            let store = try documents(run)
            let document = try store.entity("Document")
            for round in 0..<10 {
                let rows = (0..<6).map { row("n\($0)", Int64(round), data: data(50_000 + round * 7_000, seed: round * 6 + $0)) }
                try store.change { changes in
                    for (index, row) in rows.enumerated() { try changes.insert(document, rowID: Int64(round * 10 + index), row) }
                    if round > 0 { for index in 0..<6 { changes.delete(document, rowID: Int64(round * 10 - 10 + index)) } }
                }
                try run.expect(try store.read { try $0.rows(FetchRequest(document)) } == rows, "round \(round)")
            }
            if run.target.capabilities.contains(.verification) { try run.expect(try store.backend.verify(), equals: []) }
        },
    ]

private let sizes: [(String, Int)] = [
    ("one", 1), ("65535", 65_535), ("65536", 65_536), ("65537", 65_537), ("a-megabyte", 1 << 20), ("ten-megabytes", 10 << 20),
]

/// Document(name indexed, number, text, data, extra).
private func documents(_ run: ConformanceRun) throws -> TestStore {
    let optional: [(String, AttributeType)] = [("number", .int64), ("text", .string), ("data", .data), ("extra", .string)]
    return try run.open(
        SchemaDescription(
            name: "Documents",
            entities: [
                EntityDescription(
                    name: "Document",
                    properties: [.attribute(AttributeDescription(name: "name", type: .string, isIndexed: true))]
                        + optional.map { .attribute(AttributeDescription(name: $0, type: $1, isOptional: true)) })
            ]))
}

private func row(_ name: String, _ number: Int64, _ text: Value = .null, _ data: Value = .null, _ extra: Value = .null) -> [Value] {
    [.text(name), .integer(number), text, data, extra]
}

private func row(_ name: String, _ number: Int64, data: Value) -> [Value] { row(name, number, .null, data) }

/// Returns bytes whose period is not a power of two, so that a misplaced piece is detected.
private func bytes(_ count: Int, seed: Int, _ range: Range<Int>) -> [UInt8] {
    let period = (0..<4093).map { UInt8(range.lowerBound + ($0 * 31 + $0 / 7 + seed) % range.count) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + period.count)
    while bytes.count < count { bytes += period }
    return Array(bytes.prefix(count))
}

private func text(_ count: Int, seed: Int) -> Value { .text(String(decoding: bytes(count, seed: seed, 32..<127), as: UTF8.self)) }
private func data(_ count: Int, seed: Int) -> Value { .blob(bytes(count, seed: seed, 0..<256)) }
