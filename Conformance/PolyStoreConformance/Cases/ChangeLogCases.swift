import PolyStoreBackend
import SeededRandom

/// The change log of a store: its entries are transactional like records, and their positions ascend.
let changeLogCases: [ConformanceCase] = [
    logCase("log.entries.there-and-back", "An entry is read unchanged in its transaction and in later ones.") {
        run, store in
        var random = SplitMix64(seed: 11)
        let entries: [[UInt8]] = [0, 1, 2, 255, 4096, 65_536, 65_537, 300_000].map { count in
            (0..<count).map { _ in UInt8(truncatingIfNeeded: random.below(256)) }
        }
        try store.write { transaction in
            try transaction.apply(store.log(entries))
            try run.expect(try transaction.logEntries(after: 0, limit: 100).map(\.bytes) == entries, "before the commit")
        }
        try run.expect(try store.entries().map(\.bytes) == entries, "after the commit")
    },
    logCase("log.empty.has-none", "A new store has no entries, and its log begins at 0.") { run, store in
        try run.expect(try store.entries(), equals: [])
        try run.expect(try store.bounds(), equals: LogBounds())
        let removal = store.log([], removing: 5)
        try store.write { try $0.apply(removal) }
        try run.expect(try store.bounds(), equals: LogBounds(), "after a removal of nothing")
    },
    logCase("log.positions.ascend", "Positions ascend in the order of appending, within and across change sets.") {
        run, store in
        for number in 0..<10 as Range<UInt8> {
            try store.write { transaction in
                try transaction.apply(store.log([[number, 0], [number, 1]]))
                try transaction.apply(store.log([[number, 2]]))
            }
        }
        let entries = try store.entries()
        try run.expect(
            entries.map(\.bytes), equals: (0..<10 as Range<UInt8>).flatMap { number in [[number, 0], [number, 1], [number, 2]] })
        try run.expect(zip(entries, entries.dropFirst()).allSatisfy { $0.position < $1.position }, "\(entries.map(\.position))")
        try run.expect(try store.bounds().last, equals: entries.last?.position)
    },
    logCase("log.version.is-that-of-the-commit", "An entry has the version of the commit that appended it.") { run, store in
        var versions: [UInt64] = []
        for number in 0..<4 as Range<UInt8> {
            let writer = try store.backend.beginWrite()
            try writer.apply(store.log([[number]]))
            let seen = try writer.logEntries(after: 0, limit: 100).last?.version
            versions.append(try writer.commit(.relaxed))
            try run.expect(seen, equals: versions.last, "before the commit")
            // A commit without entries.
            try store.write { _ = try $0.reserveIDs(try store.entity("Club"), count: 1) }
        }
        try run.expect(try store.entries().map(\.version), equals: versions)
    },
    logCase("log.version.is-not-after-the-snapshot", "A snapshot has the version of its last entry or a later one, also after a removal.") {
        run, store in
        for number in 0..<3 as Range<UInt8> {
            try store.append([[number], [number]], removing: number == 2 ? try store.entries()[0].position : nil)
            let last = try store.entries().last
            try run.expect(try store.read { try $0.version }, equals: last?.version, "after entry \(number)")
            try store.write { _ = try $0.reserveIDs(try store.entity("Club"), count: 1) }
            try run.expect(try store.read { try $0.version } > last?.version ?? .max, "after a commit without entries")
            try run.expect(try store.entries().last, equals: last, "an entry keeps its version")
        }
        let removal = store.log([], removing: try store.bounds().last)
        let version = try store.read { try $0.version }
        try store.write { try $0.apply(removal) }
        try run.expect(try store.read { try $0.version } > version, "after a removal of all")
    },
    logCase("log.reading.after-and-limit", "A read starts after a position and returns entries up to a limit.") { run, store in
        try store.append((0..<7).map { [$0] })
        let positions = try store.entries().map(\.position)
        try store.read { reader in
            for (index, position) in positions.enumerated() {
                for limit in [1, 3, 100] {
                    let found = try reader.logEntries(after: position, limit: limit).map(\.position)
                    try run.expect(found, equals: Array(positions.dropFirst(index + 1).prefix(limit)), "after \(position), \(limit)")
                }
            }
            try run.expect(try reader.logEntries(after: -5, limit: 2).map(\.position), equals: Array(positions.prefix(2)))
            try run.expect(try reader.logEntries(after: .max, limit: 2), equals: [])
        }
    },
    logCase("log.records.together", "A change set with records and entries writes both.") { run, store in
        let club = try store.entity("Club")
        let changes = store.log([[1]])
        try changes.insert(club, rowID: 1) { $0.setText(club.fields[0].index, "chess") }
        try store.write { try $0.apply(changes) }
        try run.expect(try store.entries().map(\.bytes), equals: [[1]])
        try run.expect(try store.row("Club", 1) != nil, "the record")
    },
    logCase("log.failed.appends-none", "A failing change set appends and removes no entry, and the transaction continues.") { run, store in
        try store.append([[1], [2]])
        let first = try store.entries()[0].position
        try store.write { transaction in
            try transaction.apply(store.log([[3]]))
            let failing = store.log([[4]], removing: first)
            failing.delete(try store.entity("Club"), rowID: 99)
            try run.expectError(.notFound, "a change set that deletes a missing object") { try transaction.apply(failing) }
            try transaction.apply(store.log([[5]]))
        }
        try run.expect(try store.entries().map(\.bytes), equals: [[1], [2], [3], [5]])
    },
    logCase("log.rollback.undoes", "A rollback, or releasing a transaction, undoes its entries and removals.") { run, store in
        try store.append([[1], [2]])
        let bounds = try store.bounds()
        for isDropped in [false, true] {
            do {
                let transaction = try store.backend.beginWrite()
                try transaction.apply(store.log([[3]], removing: bounds.last))
                if !isDropped { transaction.rollback() }
            }
            try run.expect(try store.entries().map(\.bytes), equals: [[1], [2]], "dropped: \(isDropped)")
            try run.expect(try store.bounds(), equals: bounds, "dropped: \(isDropped)")
        }
    },
    logCase("log.snapshot.is-stable", "A snapshot shows the log of its version.") { run, store in
        try store.append([[1], [2]])
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        let bounds = try reader.logBounds()
        try store.append([[3]], removing: bounds.last)
        try run.expect(try reader.logEntries(after: 0, limit: 100).map(\.bytes), equals: [[1], [2]])
        try run.expect(try reader.logBounds(), equals: bounds)
        try run.expect(try store.entries().map(\.bytes), equals: [[3]])
    },
    logCase("log.removal.up-to-a-position", "A removal removes the entries up to its position and no others.") { run, store in
        try store.append((0..<6).map { [$0] })
        let positions = try store.entries().map(\.position)
        try store.write { transaction in
            try transaction.apply(store.log([[6]], removing: positions[2]))
            try run.expect(
                try transaction.logEntries(after: 0, limit: 100).map(\.bytes), equals: [[3], [4], [5], [6]], "before the commit")
        }
        try run.expect(try store.entries().map(\.bytes), equals: [[3], [4], [5], [6]])
        try run.expect(try store.bounds().removedThrough, equals: positions[2])
        let again = store.log([], removing: positions[0])
        try store.write { try $0.apply(again) }
        try run.expect(try store.entries().map(\.bytes), equals: [[3], [4], [5], [6]], "up to a position that is removed already")
    },
    logCase("log.removal.keeps-own-entries", "A change set keeps the entries that it appends, whatever it removes.") { run, store in
        try store.append([[1], [2]], removing: .max)
        try store.append([[3]], removing: .max)
        try run.expect(try store.entries().map(\.bytes), equals: [[3]])
    },
    logCase("log.positions.are-never-reused", "Positions are not reused after all entries were removed.") { run, store in
        try store.append([[1], [2], [3]])
        let last = try store.bounds().last
        let removal = store.log([], removing: last)
        try store.write { try $0.apply(removal) }
        try run.expect(try store.entries(), equals: [])
        try run.expect(try store.bounds(), equals: LogBounds(removedThrough: last, last: last))
        try store.append([[4]])
        let entry = try store.entries()[0]
        try run.expect(entry.position > last, "position \(entry.position), and \(last) was used before")
        try run.expect(try store.bounds(), equals: LogBounds(removedThrough: last, last: entry.position))
    },
    logCase("log.commit.alone", "A change set with only log entries is not empty, and its commit increments the version.") { run, store in
        let changes = store.log([[1]])
        try run.expect(!changes.isEmpty && changes.changesLog, "the change set is empty")
        let before = try store.read { try $0.version }
        try store.write { try $0.apply(changes) }
        try run.expect(try store.read { try $0.version } > before, "the version")
    },
    logCase("log.ended.is-closed", "Reading the log of an ended transaction throws closed.") { run, store in
        try store.append([[1]])
        let reader = try store.backend.beginRead()
        reader.end()
        try run.expectError(.closed, "a reader") { try reader.logEntries(after: 0, limit: 1) }
        try run.expectError(.closed, "a reader's bounds") { try reader.logBounds() }
        let writer = try store.backend.beginWrite()
        _ = try writer.commit(.relaxed)
        try run.expectError(.closed, "a writer") { try writer.logEntries(after: 0, limit: 1) }
        try run.expectError(.closed, "a writer's bounds") { try writer.logBounds() }
    },
    logCase("log.reopen.keeps-it", "The log is kept after closing and reopening, and can be appended to.", requires: [.persistence]) {
        run, store in
        try store.append([[1], [2], [3]])
        try store.append([], removing: try store.entries()[0].position)
        let bounds = try store.bounds()
        try store.backend.close()
        let again = try run.open(Fixtures.company)
        try run.expect(try again.entries().map(\.bytes), equals: [[2], [3]])
        try run.expect(try again.bounds(), equals: bounds)
        try again.append([], removing: bounds.last)
        try again.backend.close()
        let third = try run.open(Fixtures.company)
        try third.append([[4]])
        try run.expect(try third.entries().map(\.position).allSatisfy { $0 > bounds.last }, "after a removal of all")
    },
    logCase("log.reset.removes-it", "A store that is reset for another model has an empty log.", requires: [.persistence]) { run, store in
        try store.append([[1], [2]])
        try store.backend.close()
        let other = SchemaDescription(
            name: "Other",
            entities: [EntityDescription(name: "Other", properties: [.attribute(AttributeDescription(name: "name", type: .string))])])
        let emptied = try run.open(other) { $0.resettingOnModelMismatch() }
        try run.expect(try emptied.entries(), equals: [])
        try run.expect(try emptied.bounds(), equals: LogBounds())
        try emptied.append([[3]])
        try run.expect(try emptied.entries().map(\.bytes), equals: [[3]])
    },
    logCase("log.read-only.reads", "The log of a store that is opened read-only can be read.", requires: [.readOnlyOpen]) { run, store in
        try store.backend.close()
        let before = try run.open(Fixtures.company) { $0.readOnly() }
        try run.expect(try before.entries(), equals: [], "before the first entry")
        try run.expect(try before.bounds(), equals: LogBounds(), "before the first entry")
        try before.backend.close()
        let writing = try run.open(Fixtures.company)
        try writing.append([[1]])
        try writing.backend.close()
        try run.expect(try run.open(Fixtures.company) { $0.readOnly() }.entries().map(\.bytes), equals: [[1]])
    },
    logCase("log.two-handles.append-in-turn", "Two stores opened at one path append to one log.", requires: [.multiProcess]) { run, first in
        let second = try run.open(Fixtures.company)
        for number in 0..<8 as Range<UInt8> {
            try (number % 2 == 0 ? first : second).append([[number]])
            for store in [first, second] { try run.expect(try store.entries().map(\.bytes), equals: (0...number).map { [$0] }) }
        }
        let positions = try first.entries().map(\.position)
        try run.expect(positions, equals: positions.sorted())
    },
]

/// Returns a case that needs a change log, on a new store.
private func logCase(
    _ id: String, _ statement: String, requires: Set<Capabilities.Feature> = [],
    _ body: @escaping @Sendable (ConformanceRun, TestStore) throws -> Void
) -> ConformanceCase {
    ConformanceCase(id, statement, requires: requires.union([.changeLog])) { run in try body(run, try run.open(Fixtures.company)) }
}

extension TestStore {
    /// Returns a change set that appends entries and removes others.
    func log(_ entries: [[UInt8]], removing position: Int64? = nil) -> ChangeSet {
        let changes = ChangeSet(schema)
        for entry in entries { changes.appendLogEntry(entry) }
        if let position { changes.removeLogEntries(through: position) }
        return changes
    }

    /// Commits a change set that appends entries and removes others.
    func append(_ entries: [[UInt8]], removing position: Int64? = nil) throws {
        let changes = log(entries, removing: position)
        try write { try $0.apply(changes) }
    }

    /// Returns the whole log, from a separate transaction.
    func entries() throws -> [LogEntry] { try read { try $0.logEntries(after: 0, limit: 1000) } }

    func bounds() throws -> LogBounds { try read { try $0.logBounds() } }
}
