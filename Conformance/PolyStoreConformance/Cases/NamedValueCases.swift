import PolyStoreBackend
import SeededRandom

/// The named values of a store, which are transactional like records.
let namedValueCases: [ConformanceCase] = [
    valueCase(
        "values.set.there-and-back", "A value is read unchanged in its transaction, in later ones and after reopening."
    ) {
        run, store in
        var random = SplitMix64(seed: 7)
        let values: [(String, [UInt8])] = [0, 1, 2, 255, 4096, 65_535, NamedValue.longestValue].map { count in
            ("size \(count)", (0..<count).map { _ in UInt8(truncatingIfNeeded: random.below(256)) })
        }
        try store.write { transaction in
            try transaction.apply(try store.values(values))
            for (name, bytes) in values { try run.expect(try transaction.value(named: name) == bytes, "\(name), before the commit") }
        }
        for (name, bytes) in values { try run.expect(try store.value(name) == bytes, "\(name), after the commit") }
    },
    valueCase("values.absent.is-nil", "A value that was never set is nil, also if others are set, and differs from the empty value.") {
        run, store in
        try run.expect(try store.value("position"), equals: nil, "in a new store")
        try store.setValues([("positio", [1]), ("position2", [2]), ("empty", [])])
        try run.expect(try store.value("position"), equals: nil)
        try run.expect(try store.value("Position2"), equals: nil, "in capitals")
        try run.expect(try store.value("empty"), equals: [])
    },
    valueCase("values.removal.is-absence", "A removed value is nil and not listed; removing a missing value has no effect.") {
        run, store in
        try store.setValues([("never", nil)])
        try store.setValues([("a", [1]), ("b", [2])])
        try store.write { transaction in
            try transaction.apply(try store.values([("a", nil), ("never", nil)]))
            try run.expect(try transaction.value(named: "a"), equals: nil, "before the commit")
            try run.expect(try transaction.valueNames(prefix: ""), equals: ["b"], "before the commit")
        }
        try run.expect(try store.value("a"), equals: nil)
        try run.expect(try store.value("b"), equals: [2])
        try run.expect(try store.read { try $0.valueNames(prefix: "") }, equals: ["b"])
        try store.setValues([("a", [3])])
        try run.expect(try store.value("a"), equals: [3], "set again")
    },
    valueCase(
        "values.overwritten.last-one-counts", "The last of several settings of a value applies, within and across change sets."
    ) {
        run, store in
        try store.setValues([("v", [0])])
        try store.write { transaction in
            try transaction.apply(try store.values([("v", [1]), ("w", [1]), ("v", [2, 2]), ("w", nil), ("x", nil), ("x", [9])]))
            try run.expect(try transaction.value(named: "v"), equals: [2, 2], "in one change set")
            try transaction.apply(try store.values([("v", [3, 3, 3])]))
            try run.expect(try transaction.value(named: "v"), equals: [3, 3, 3], "in the second change set")
        }
        try run.expect(try store.value("v"), equals: [3, 3, 3])
        try run.expect(try store.value("w"), equals: nil, "set and removed")
        try run.expect(try store.value("x"), equals: [9], "removed and set")
    },
    valueCase("values.rollback.undoes", "A rollback, or releasing a transaction, undoes its values.") { run, store in
        for isDropped in [false, true] {
            do {
                let transaction = try store.backend.beginWrite()
                try transaction.apply(try store.values([("v", [1])]))
                if !isDropped { transaction.rollback() }
            }
            try run.expect(try store.value("v"), equals: nil, "dropped: \(isDropped)")
        }
        try store.setValues([("v", [1]), ("w", [1])])
        let transaction = try store.backend.beginWrite()
        try transaction.apply(try store.values([("v", [2]), ("w", nil)]))
        transaction.rollback()
        try run.expect(try store.value("v"), equals: [1])
        try run.expect(try store.value("w"), equals: [1])
    },
    valueCase("values.commit.alone", "A change set with only values is not empty, and its commit increments the version.") { run, store in
        let changes = try store.values([("v", [1])])
        try run.expect(!changes.isEmpty, "the change set is empty")
        let before = try store.read { try $0.version }
        let version = try store.write { transaction in
            try transaction.apply(changes)
            return try transaction.version
        }
        try run.expect(version, equals: before)
        try run.expect(try store.read { try $0.version } > before, "the commit does not count")
        try run.expect(try store.value("v"), equals: [1])
    },
    valueCase("values.records.together", "A commit can write values and records together.") { run, store in
        let person = try store.entity("Person")
        for id in 1...3 as ClosedRange<Int64> {
            try store.change { changes in
                try changes.insert(person, rowID: id, Fixtures.person("p\(id)", id))
                try changes.setValue([UInt8(id)], named: "position")
            }
            try run.expect(try store.read { [UInt8(try $0.count(FetchRequest(person)))] }, equals: [UInt8(id)])
            try run.expect(try store.value("position"), equals: [UInt8(id)])
        }
    },
    valueCase("values.failed.sets-none", "A failing change set sets no value, and values of earlier change sets stay.") { run, store in
        let person = try store.entity("Person")
        try store.insert("Person", [Fixtures.person("a", 1)])
        try store.write { transaction in
            try transaction.apply(try store.values([("before", [1]), ("v", [1])]))
            for (code, spoil) in [
                (.constraint, { try $0.insert(person, rowID: 2, Fixtures.person("a", 2)) }),
                (.notFound, { $0.delete(person, rowID: 99) }),
            ] as [(StoreError.Code, (ChangeSet) throws -> Void)] {
                let bad = try store.values([("v", [2]), ("new", [2]), ("before", nil)])
                try spoil(bad)
                try run.expectError(code) { try transaction.apply(bad) }
                try run.expect(try transaction.value(named: "v"), equals: [1], "\(code)")
            }
        }
        try run.expect(try store.value("before"), equals: [1])
        try run.expect(try store.value("v"), equals: [1])
        try run.expect(try store.value("new"), equals: nil)
    },
    valueCase("values.snapshot.is-stable", "A reader sees the values of its version, and a new reader those of the newest.") {
        run, store in
        try store.setValues([("v", [1]), ("gone", [1])])
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        let transaction = try store.backend.beginWrite()
        try transaction.apply(try store.values([("v", [2]), ("gone", nil), ("new", [2])]))
        try run.expect(try store.value("v"), equals: [1], "before the commit")
        _ = try transaction.commit(.full)
        try run.expect(try reader.value(named: "v"), equals: [1], "the earlier reader")
        try run.expect(try reader.value(named: "gone"), equals: [1], "the earlier reader")
        try run.expect(try reader.value(named: "new"), equals: nil, "the earlier reader")
        try run.expect(try reader.valueNames(prefix: ""), equals: ["gone", "v"], "the earlier reader")
        try run.expect(try store.value("v"), equals: [2], "a new reader")
        try run.expect(try store.read { try $0.valueNames(prefix: "") }, equals: ["new", "v"], "a new reader")
    },
    valueCase("values.reopen.keeps-them", "Values are unchanged after reopening.", requires: [.persistence]) { run, store in
        try store.setValues([("a", [1]), ("b", []), ("c", [3])])
        try store.setValues([("c", nil)])
        try store.backend.close()
        let store = try run.open(Fixtures.company)
        try run.expect(try store.value("a"), equals: [1])
        try run.expect(try store.value("b"), equals: [])
        try run.expect(try store.value("c"), equals: nil)
        if run.target.capabilities.contains(.verification) { try run.expect(try store.backend.verify(), equals: []) }
    },
    valueCase("values.names.by-prefix", "Names are listed by prefix, in ascending order of their bytes.") { run, store in
        let names = ["a", "a.b", "a.b.c", "a/b", "ab", "aé", "a\u{ffff}", "a\u{10ffff}", "b", "é", "e\u{301}", "polystore.x"]
        try store.setValues(names.reversed().map { ($0, Array($0.utf8)) })
        for prefix in ["", "a", "a.", "a.b", "b", "c", "aé", "e", String(repeating: "a", count: 500)] {
            let expected = names.filter { $0.utf8.starts(with: prefix.utf8) }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            let found = try store.read { try $0.valueNames(prefix: prefix) }
            // By bytes: strings can be canonically equivalent and differ in bytes.
            try run.expect(
                found.map { Array($0.utf8) }, equals: expected.map { Array($0.utf8) }, "names that begin with \"\(prefix.prefix(9))\"")
        }
    },
    valueCase(
        "values.names.prefix-is-plain-text",
        "No character of a prefix has a meaning of its own: not `_`, `%`, `\\`, `*`, `?`, nor brackets and quotes."
    ) { run, store in
        try expectPrefixes(
            run, store,
            [
                "a_b", "axb", "a%b", "axxb", "a\\b", "a\\\\b", "a\\_b", "a\\%b", "a_", "a", "a%", "%", "_", "\\", "%a", "_a", "ab", "[ab]",
                "a*b",
                "a?b", "*", "?", "'", "a'b", "\"", "a^b", "a-b", "^a", ".a", "a.b", "(a)", "a|b", "$", "a$",
            ])
    },
    valueCase("values.names.prefix-in-capitals", "A prefix in capitals differs from one in small letters.") { run, store in
        try expectPrefixes(
            run, store,
            [
                "Case", "case", "CASE", "cASE.x", "Case.y", "Éa", "éa", "E\u{301}a", "ß", "SS", "ss", "ſ", "İ", "i", "I", "ı", "K", "k",
                "\u{212a}",
            ])
    },
    valueCase(
        "values.limits.are-kept", "The longest name and value are accepted; longer ones and the empty name throw invalidValue."
    ) {
        run, store in
        let longest = String(repeating: "é", count: NamedValue.longestName / 2)
        let full = [UInt8](repeating: 0xff, count: NamedValue.longestValue)
        try store.setValues([(longest, full)])
        try run.expect(try store.value(longest) == full, "the longest value")
        let changes = ChangeSet(store.schema)
        try run.expectError(.invalidValue, "a longer name") { try changes.setValue([1], named: longest + "x") }
        try run.expectError(.invalidValue, "the empty name") { try changes.setValue([1], named: "") }
        try run.expectError(.invalidValue, "a longer value") { try changes.setValue(full + [1], named: "v") }
        try run.expect(changes.isEmpty, "a refused value is in the change set")
        try store.read { reader in
            try run.expectError(.invalidValue, "reading a longer name") { try reader.value(named: longest + "x") }
            try run.expectError(.invalidValue, "reading the empty name") { try reader.value(named: "") }
        }
    },
    valueCase("values.names.are-free", "Names with NUL, quotes and other special characters are valid and compared by bytes.") {
        run, store in
        let names = [
            "\u{0}", "\u{0}\u{0}", "a\u{0}", "a\u{0}b", "a", "'", "''", "\"", "`", ";", "--", "%", "_", "\\", "\n", "\u{1}", "\u{7f}",
            "polystore_values",
            "é", "e\u{301}", "\u{feff}", "😀", "'; DROP TABLE polystore_values; --",
        ]
        try store.setValues(names.enumerated().map { ($0.element, [UInt8($0.offset)]) })
        for (number, name) in names.enumerated() {
            try run.expect(try store.value(name), equals: [UInt8(number)], "\(name.debugDescription)")
        }
        try run.expect(try store.read { try $0.valueNames(prefix: "") }.count, equals: names.count)
        try store.setValues(names.map { ($0, nil) })
        try run.expect(try store.read { try $0.valueNames(prefix: "") }, equals: [])
    },
    valueCase("values.walk.goes-on", "An open cursor of a write transaction continues while values are set.") {
        run, store in
        let person = try store.entity("Person")
        try store.insert("Person", (0..<20).map { Fixtures.person("p\($0)", Int64($0)) })
        try store.write { transaction in
            let cursor = try transaction.fetch(FetchRequest(person))
            defer { cursor.close() }
            var ids: [Int64] = []
            while try cursor.next() {
                ids.append(cursor.rowID)
                try transaction.apply(try store.values([("position", [UInt8(cursor.rowID)])]))
            }
            try run.expect(ids, equals: Array(1...20))
        }
        try run.expect(try store.value("position"), equals: [20])
    },
    valueCase("values.ended.is-closed", "Reading values of an ended transaction throws closed.") { run, store in
        try store.setValues([("v", [1])])
        let reader = try store.backend.beginRead()
        reader.end()
        try run.expectError(.closed, "a reader") { try reader.value(named: "v") }
        try run.expectError(.closed, "a reader's names") { try reader.valueNames(prefix: "") }
        let writer = try store.backend.beginWrite()
        _ = try writer.commit(.full)
        try run.expectError(.closed, "a writer") { try writer.value(named: "v") }
        try run.expectError(.closed, "a writer's names") { try writer.valueNames(prefix: "") }
    },
    valueCase("values.reset.removes-them", "A store that is reset for another model has no values.", requires: [.persistence]) {
        run, store in
        try store.setValues([("v", [1]), ("polystore.import", [2])])
        try store.backend.close()
        let other = SchemaDescription(
            name: "Other",
            entities: [EntityDescription(name: "Other", properties: [.attribute(AttributeDescription(name: "name", type: .string))])])
        let emptied = try run.open(other) { $0.resettingOnModelMismatch() }
        try run.expect(try emptied.value("v"), equals: nil)
        try run.expect(try emptied.read { try $0.valueNames(prefix: "") }, equals: [])
        try emptied.setValues([("v", [3])])
        try run.expect(try emptied.value("v"), equals: [3])
    },
    valueCase("values.read-only.reads", "The values of a store that is opened read-only can be read.", requires: [.readOnlyOpen]) {
        run, store in
        try store.backend.close()
        let before = try run.open(Fixtures.company) { $0.readOnly() }
        try run.expect(try before.value("v"), equals: nil, "before the first value")
        try run.expect(try before.read { try $0.valueNames(prefix: "") }, equals: [], "before the first value")
        try before.backend.close()
        let writing = try run.open(Fixtures.company)
        try writing.setValues([("v", [1])])
        try writing.backend.close()
        let reading = try run.open(Fixtures.company) { $0.readOnly() }
        try run.expect(try reading.value("v"), equals: [1])
        try run.expect(try reading.read { try $0.valueNames(prefix: "") }, equals: ["v"])
    },
    valueCase(
        "values.two-handles.see-each-other", "Two stores opened at one path share their values.", requires: [.multiProcess]
    ) {
        run, first in
        let second = try run.open(Fixtures.company)
        for number in 0..<4 as Range<UInt8> {
            try (number % 2 == 0 ? first : second).setValues([("v", [number])])
            try run.expect(try first.value("v"), equals: [number])
            try run.expect(try second.value("v"), equals: [number])
        }
    },
]

/// Sets a value for each name, and lists the names that begin with each name, with a part of each and with each name and a star.
private func expectPrefixes(_ run: ConformanceRun, _ store: TestStore, _ names: [String]) throws {
    try store.setValues(names.map { ($0, Array($0.utf8)) })
    for prefix in names + names.map({ String($0.prefix(1)) }) + names.map({ String($0.dropLast()) }) + names.map({ $0 + "*" }) {
        let expected = names.filter { $0.utf8.starts(with: prefix.utf8) }.map { Array($0.utf8) }
        let found = try store.read { try $0.valueNames(prefix: prefix) }
        try run.expect(
            found.map { Array($0.utf8) }, equals: expected.sorted { $0.lexicographicallyPrecedes($1) },
            "names that begin with \(prefix.debugDescription)")
    }
}

/// Returns a case that needs named values, on a new store.
private func valueCase(
    _ id: String, _ statement: String, requires: Set<Capabilities.Feature> = [],
    _ body: @escaping @Sendable (ConformanceRun, TestStore) throws -> Void
) -> ConformanceCase {
    ConformanceCase(id, statement, requires: requires.union([.namedValues])) { run in try body(run, try run.open(Fixtures.company)) }
}

extension TestStore {
    /// Returns a change set that sets values in sequence.
    func values(_ values: [(name: String, bytes: [UInt8]?)]) throws -> ChangeSet {
        let changes = ChangeSet(schema)
        for (name, bytes) in values { try changes.setValue(bytes, named: name) }
        return changes
    }

    /// Commits a change set that sets values.
    func setValues(_ values: [(name: String, bytes: [UInt8]?)]) throws {
        let changes = try self.values(values)
        try write { try $0.apply(changes) }
    }

    /// Returns a named value, from a separate transaction.
    func value(_ name: String) throws -> [UInt8]? { try read { try $0.value(named: name) } }
}
