import PolyStoreBackend
import PolyStoreSearch

/// The data that a process writes until it is killed: commits of three entries each with a full-text index, a counter, a named value and an entry of the change log. Every fifth
/// commit deletes the entries of the fourth commit before it.
enum KillSample {
    static let schema = SchemaDescription(
        name: "Kill",
        entities: [
            EntityDescription(
                name: "Entry",
                properties: [
                    .attribute(AttributeDescription(name: "commit", type: .int64, isIndexed: true)),
                    .attribute(AttributeDescription(name: "name", type: .string, isUnique: true)),
                    .attribute(AttributeDescription(name: "payload", type: .data)),
                    .attribute(AttributeDescription(name: "text", type: .string)),
                ], searchIndexes: [SearchIndexDescription(fields: ["name", "text"])]),
            EntityDescription(name: "Counter", properties: [.attribute(AttributeDescription(name: "value", type: .int64))]),
        ])

    /// The named value that holds the number of the last commit.
    private static let valueName = "kill.commit"

    /// The number of change log entries that are kept.
    private static let logLength: Int64 = 8

    private static func row(_ number: Int64, _ part: Int64) -> [Value] {
        let payload = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 100 + Int(number) * 37 % 9000)
        return [.integer(number), .text("\(number)-\(part)"), .blob(payload), .text(text(number, part))]
    }

    private static func text(_ number: Int64, _ part: Int64) -> String {
        "common word\(number % 7) commit\(number) part\(part)" + String(repeating: " common", count: Int(number % 3))
    }

    private static func counter(_ reader: any ReadTransaction, _ schema: ResolvedSchema) throws -> Int64 {
        guard let counter = schema.entity(named: "Counter"), case .integer(let value)? = try reader.row(counter, 1)?.first else { return 0 }
        return value
    }

    /// Writes one commit.
    /// - Returns: the number of the commit.
    static func write(_ backend: any StorageBackend, _ schema: ResolvedSchema, _ durability: Durability) throws -> Int64 {
        guard let entry = schema.entity(named: "Entry"), let counter = schema.entity(named: "Counter") else { return 0 }
        let transaction = try backend.beginWrite()
        defer { transaction.rollback() }
        let number = try self.counter(transaction, schema) + 1
        let changes = ChangeSet(schema)
        if number == 1 {
            try changes.insert(counter, rowID: 1, [.integer(1)])
        } else {
            try changes.update(counter, rowID: 1, ["value": .integer(number)])
        }
        for part in 0..<3 as Range<Int64> { try changes.insert(entry, rowID: number * 3 + part, row(number, part)) }
        if number % 5 == 0 { for part in 0..<3 as Range<Int64> { changes.delete(entry, rowID: (number - 4) * 3 + part) } }
        if backend.capabilities.has(.namedValues) { try changes.setValue(Array("\(number)".utf8), named: valueName) }
        if backend.capabilities.has(.changeLog) {
            changes.appendLogEntry(Array("\(number)".utf8))
            changes.removeLogEntries(through: try transaction.logBounds().last - logLength + 1)
        }
        try transaction.apply(changes)
        _ = try transaction.commit(durability)
        return number
    }

    /// Checks the contents.
    /// - Returns: the number of the last commit.
    static func check(_ run: ConformanceRun, acknowledged: Int, _ when: String) throws -> Int {
        let store = try run.open(schema)
        defer { try? store.backend.close() }
        let entry = try store.entity("Entry")
        let (number, rows) = try store.read { (Int(try counter($0, store.schema)), try $0.rows(FetchRequest(entry))) }
        try run.expect(number >= acknowledged, "\(when): commit \(acknowledged) was acknowledged, and the last one there is \(number)")
        var expected: [[Value]] = []
        var texts: [Int64: [String?]] = [:]
        for commit in stride(from: Int64(1), through: Int64(number), by: 1) where commit % 5 != 1 || commit + 4 > Int64(number) {
            for part in Int64(0)..<3 {
                expected.append(row(commit, part))
                texts[commit * 3 + part] = ["\(commit)-\(part)", text(commit, part)]
            }
        }
        try run.expect(rows == expected, "\(when): \(rows.count) entries instead of \(expected.count), or others, up to commit \(number)")
        try check(store, texts, number, when)
        if store.backend.capabilities.has(.namedValues) {
            let value = try store.value(valueName).map { String(decoding: $0, as: UTF8.self) }
            try run.expect(value, equals: number == 0 ? nil : "\(number)", "\(when): the named value of the last commit")
        }
        if store.backend.capabilities.has(.changeLog) {
            let log = try store.entries().map { String(decoding: $0.bytes, as: UTF8.self) }
            let kept = stride(from: max(1, number - Int(logLength) + 1), through: number, by: 1).map { "\($0)" }
            try run.expect(log, equals: kept, "\(when): the change log of the last commits")
        }
        if store.backend.capabilities.features.contains(.verification) {
            try run.expect(try store.backend.verify(), equals: [], "\(when): verify")
        }
        return number
    }

    /// Checks that searches find what the texts contain.
    private static func check(_ store: TestStore, _ texts: [Int64: [String?]], _ number: Int, _ when: String) throws {
        let entry = try store.entity("Entry")
        var model = SearchModel(entry.searchIndexes[0])
        model.texts = texts
        for query in [
            "common", "word3 OR word5", "\"commit\(number) part1\"", "commit\(max(1, number - 4))", "name:2", "part2 -word0", "com*",
        ] {
            let condition = try SearchCondition(Search(query), in: entry.searchIndexes[0], of: entry)
            let request = FetchRequest(entry, predicate: .search(condition), sortKeys: [SortKey(.score(condition), ascending: false)])
            try store.read { reader in
                try store.run.expect(try reader.ids(request), equals: model.ranked(query), "\(when): \(query)")
                if let mismatch = try model.mismatch(condition, reader) {
                    throw store.run.fail("\(when): \(query): \(mismatch.what): expected \(mismatch.expected), found \(mismatch.found)")
                }
            }
        }
    }
}
