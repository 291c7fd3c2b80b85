import Foundation
import HistoryTestSupport
import PolyStore
import PolyStoreAttributes
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreKernel

/// Tokens of stores that were restored from a backup, and commits without entries.
@Suite struct HistoryIdentityTests {
    private func add(_ stack: DataStack, _ names: [String]) async throws {
        for name in names { try await stack.perform(sourceIdentifier: name) { try $0.create(Into<Person>()).name = name } }
    }

    private func names(_ range: ClosedRange<Int>) -> [String] { range.map { "\($0)" } }

    /// Commits to the store without an entry, as a program that records no history does.
    private func commitUnrecorded(_ stack: DataStack) throws {
        let store = stack.stores[0]
        let writer = try store.backend.beginWrite()
        _ = try writer.reserveIDs(store.schema.entities[0], count: 1)
        _ = try writer.commit(.relaxed)
        writer.rollback()
    }

    private func token(_ json: [String: Int64]) throws -> HistoryToken {
        try JSONDecoder().decode(HistoryToken.self, from: try JSONEncoder().encode(json))
    }

    private func json(_ token: HistoryToken) throws -> [String: Int64] {
        try JSONDecoder().decode([String: Int64].self, from: try JSONEncoder().encode(token))
    }

    // MARK: Identity

    @Test(arguments: Backend.persistent)
    func tokensOfARestoredStoreHaveExpired(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder)
        try await add(stack, names(1...3))
        try await stack.stores[0].backUp(to: folder.file("backup"))
        try await add(stack, names(4...6))
        let tokens = try await stack.history().map(\.token)
        let storeID = stack.stores[0].storeID
        try stack.closeAndWait()

        let restored = try DataStack(HistoryModels.schema())
        try restored.addStore(try engine.configuration(folder.file("backup")), history: HistoryOptions())
        #expect(restored.stores[0].storeID == storeID)
        var count = 3
        for name in ["a", "b", "c", "d"] {
            for position in 0..<6 {
                if position < 3 {
                    #expect(try await restored.history(since: tokens[position]).count == count - position - 1)
                } else {
                    for token in [tokens[position], try self.token(json(tokens[position]))] {
                        let error = await #expect(throws: StoreError.self) { try await restored.history(since: token) }
                        #expect(error?.code == .historyExpired && error?.message.contains("historyToken()") == true)
                        #expect(throws: StoreError.self) { try restored.historyAndWait(since: token, limit: 1) }
                        await #expect(throws: StoreError.self) { try await restored.deleteHistory(before: token) }
                        #expect(throws: StoreError.self) { try restored.deleteHistoryAndWait(before: token) }
                    }
                }
            }
            #expect(try await restored.history().count == count)
            try await add(restored, [name])
            count += 1
        }
    }

    @Test(arguments: Backend.allCases)
    func identityOfAnotherEntryIsRefused(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder)
        try await add(stack, names(1...4))
        let store = stack.stores[0].storeID
        let second = try await stack.history()[1].token
        var values = try json(second)
        #expect(values[store] == 2 && values.count > 1)
        for key in values.keys where key.hasSuffix("@2") { values[key]? ^= 1 }
        let foreign = try token(values)
        let error = await #expect(throws: StoreError.self) { try await stack.history(since: foreign) }
        #expect(error?.code == .historyExpired)
        #expect(try await stack.history(since: second).map(\.author) == ["3", "4"])
    }

    @Test(arguments: Backend.allCases)
    func tokensOfEarlierReleasesAreReadAsBefore(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder)
        try await add(stack, names(1...4))
        let store = stack.stores[0].storeID
        #expect(try await stack.history(since: token([store: 2])).map(\.author) == ["3", "4"])
        #expect(try await stack.history(since: token([store: 0])).map(\.author) == names(1...4))
        let late = await #expect(throws: StoreError.self) { try await stack.history(since: token([store: 5])) }
        #expect(late?.code == .historyExpired)
        // An earlier release finds the positions in a token of this one.
        let end = try await stack.historyToken()
        #expect(try json(end)[store] == 4 && end.position(in: store) == 4 && "\(end)" == "\(store):4")
        // It advances the position and keeps what it does not know.
        var advanced = try json(try await stack.history()[1].token)
        advanced[store] = 3
        #expect(try await stack.history(since: token(advanced)).map(\.author) == ["4"])
        // The next token has an identity again.
        #expect(try await stack.history(since: token([store: 4])).token == end)
    }

    // MARK: Unrecorded commits

    @Test(arguments: Backend.allCases)
    func filterKeepsTheMarkOfAnExcludedEntry(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder)
        try await add(stack, ["1"])
        let before = try await stack.historyToken()
        try commitUnrecorded(stack)
        try await stack.perform(sourceIdentifier: "team") { try $0.create(Into<Team>()).title = "T" }
        let people = HistoryFilter.all.changes(of: Person.self)
        let between = try await stack.history(since: before, matching: people)
        try await add(stack, ["2", "3"])
        #expect(try await stack.history().map(\.followsUnrecordedCommits) == [false, true, false, false])
        for filter in [people, .all.author("2").author("3"), .all.kinds(.inserted).changes(ofEntityNamed: "Person")] {
            #expect(try await stack.history(since: before, matching: filter).map(\.followsUnrecordedCommits) == [true, false], "\(filter)")
        }
        // Another call returns the next entry.
        #expect(between.isEmpty)
        let coded = try token(json(between.token))
        #expect(try await stack.history(since: coded, matching: people).map(\.followsUnrecordedCommits) == [true, false])
        let first = try await stack.history(since: coded, matching: people, limit: 1)
        #expect(first.map(\.followsUnrecordedCommits) == [true])
        #expect(try await stack.history(since: first.token, matching: people).map(\.followsUnrecordedCommits) == [false])
        #expect(try await stack.history(since: first[0].token, matching: people).map(\.followsUnrecordedCommits) == [false])
    }

    @Test(arguments: Backend.allCases)
    func markIsKeptAfterTheEntryOfTheTokenWasDeleted(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder)
        let empty = try await stack.historyToken()
        try commitUnrecorded(stack)
        try await add(stack, ["1"])
        #expect(try await stack.history(since: empty).map(\.followsUnrecordedCommits) == [true])
        let token = try await stack.history().token
        try await stack.deleteHistory(before: token)
        try await add(stack, ["2"])
        #expect(try await stack.history(since: token).map(\.followsUnrecordedCommits) == [false])
        try commitUnrecorded(stack)
        let last = try await stack.history(since: token).token
        try await stack.deleteHistory(before: last)
        try await add(stack, ["3"])
        #expect(try await stack.history(since: last).map(\.followsUnrecordedCommits) == [true])
    }

    // MARK: Deleting

    @Test(arguments: Backend.allCases)
    func invalidLimitsDeleteNothing(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder)
        try await add(stack, names(1...3))
        let beyond = try token([stack.stores[0].storeID: 99])
        let undefined = Date(timeIntervalSince1970: .nan)
        let errors = [
            await #expect(throws: StoreError.self) { try await stack.deleteHistory(before: beyond) },
            #expect(throws: StoreError.self) { try stack.deleteHistoryAndWait(before: beyond) },
            await #expect(throws: StoreError.self) { try await stack.deleteHistory(before: undefined) },
            #expect(throws: StoreError.self) { try stack.deleteHistoryAndWait(before: undefined) },
        ]
        #expect(errors.map { $0?.code } == [.historyExpired, .historyExpired, .misuse, .misuse])
        #expect(try await stack.history().map(\.author) == names(1...3))
        try await stack.deleteHistory(before: .distantPast)
        try await stack.deleteHistory(before: Date(timeIntervalSince1970: -.infinity))
        #expect(try await stack.history().count == 3)
        try await stack.deleteHistory(before: Date(timeIntervalSince1970: .infinity))
        #expect(try await stack.history().isEmpty)
    }

    // MARK: Dates in the future

    /// Appends entries whose dates differ from now by a number of seconds, with the numbers as authors.
    private func append(_ stack: DataStack, _ ages: [Double]) throws {
        let store = stack.stores[0]
        for age in ages {
            let writer = try store.backend.beginWrite()
            let changes = ChangeSet(store.schema)
            let head = HistoryRecord.Head(
                base: try writer.version, time: HistoryRecord.time(Date().addingTimeInterval(age)), bytesBefore: 0, isInternal: false,
                author: "\(Int(age))")
            changes.appendLogEntry(HistoryRecord(head: head).encoded())
            try writer.apply(changes)
            _ = try writer.commit(.relaxed)
            writer.rollback()
        }
    }

    private static let years = 10.0 * 365 * 86_400

    @Test(arguments: Backend.allCases)
    func entryOfTheFutureDoesNotEndExpiry(_ engine: Backend) async throws {
        let cases: [(ages: [Double], kept: [Double])] = [
            ([-7200, Self.years, -5400], []), ([-7200, Self.years, -600], [Self.years, -600]), ([Self.years], [Self.years]),
            ([Self.years, -600, -7200], [Self.years, -600, -7200]), ([-7200, -7200, Self.years, Self.years, -5400, -600], [-600]),
            (Array(repeating: Self.years, count: 300) + [-7200, -5400, Self.years, -600], [Self.years, -600]),
        ]
        for (ages, kept) in cases {
            let folder = try Folder()
            let stack = try engine.stack(folder, history: HistoryOptions(maximumAge: .seconds(3600)))
            try append(stack, ages)
            try await add(stack, names(1...4))
            #expect(try await stack.history().map(\.author) == kept.map { "\(Int($0))" } + names(1...4), "\(ages)")
        }
    }

    @Test(arguments: Backend.allCases)
    func commitReadsALimitedNumberOfEntriesOfTheFuture(_ engine: Backend) async throws {
        let folder = try Folder()
        let counter = Protected(0)
        let stack = try DataStack(HistoryModels.schema())
        try stack.addStore(
            try engine.configuration(folder.file()).countingEntries(counter), history: HistoryOptions(maximumAge: .seconds(3600)))
        try append(stack, Array(repeating: Self.years, count: 600) + [-7200, -5400, -600])
        var read: [Int] = []
        for name in names(1...6) {
            counter.withLock { $0 = 0 }
            try await add(stack, [name])
            read.append(counter.withLock { $0 })
        }
        // One more entry is the last one, which the first commit reads to continue the log.
        #expect(read.allSatisfy { $0 <= 257 } && read.reduce(0, +) <= 610, "\(read)")
        #expect(try await stack.history().map(\.author) == ["-600"] + names(1...6))
        // A second run, which the known length of the first must not hide.
        try append(stack, Array(repeating: Self.years, count: 300) + [-7200, -600])
        try await add(stack, names(7...10))
        let kept = Array(repeating: "\(Int(Self.years))", count: 300) + ["-7200", "-600"]
        #expect(try await stack.history().map(\.author) == ["-600"] + names(1...6) + kept + names(7...10))
    }

    @Test(arguments: Backend.allCases)
    func deletionBeforeADatePassesEntriesOfTheFuture(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder)
        try append(stack, [-7200, Self.years, -5400, -600, Self.years])
        // One date for both: the deletion itself leaves an entry, which must not be older than the second limit, however long the test waits in between.
        let date = Date()
        try await stack.deleteHistory(before: date.addingTimeInterval(-3600))
        #expect(try await stack.history().map(\.author) == ["-600", "\(Int(Self.years))"])
        try await stack.deleteHistory(before: date.addingTimeInterval(-60))
        #expect(try await stack.history().map(\.author) == ["\(Int(Self.years))"])
        try await stack.deleteHistory(before: Date().addingTimeInterval(60))
        #expect(try await stack.history().isEmpty)
    }
}

extension StoreConfiguration {
    /// Returns the same store, which adds the number of log entries that write transactions read.
    fileprivate func countingEntries(_ counter: Protected<Int>) -> StoreConfiguration {
        let inner = self
        return StoreConfiguration(engine: engine, location: location, isShared: isShared) { request in
            EntryCountingBackend(
                try inner.open(schema: request.schema, configurationName: request.configurationName, logger: request.logger), counter)
        }
    }
}

private final class EntryCountingBackend: StorageBackend {
    let inner: any StorageBackend
    let counter: Protected<Int>
    var capabilities: Capabilities { inner.capabilities }
    var metadata: StoreMetadata { inner.metadata }

    init(_ inner: any StorageBackend, _ counter: Protected<Int>) { (self.inner, self.counter) = (inner, counter) }

    func beginRead() throws -> any ReadTransaction { try inner.beginRead() }
    func beginWrite() throws -> any WriteTransaction { EntryCountingWriter(try inner.beginWrite(), counter) }
    func close() throws { try inner.close() }
}

private final class EntryCountingWriter: WriteTransaction {
    let inner: any WriteTransaction
    let counter: Protected<Int>

    init(_ inner: any WriteTransaction, _ counter: Protected<Int>) { (self.inner, self.counter) = (inner, counter) }

    var version: UInt64 { get throws { try inner.version } }
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { try inner.record(entity, rowID: rowID) }
    func scan(_ request: FetchRequest) throws -> Scan { try inner.scan(request) }
    func search(_ request: SearchRequest) throws -> SearchHits? { try inner.search(request) }
    func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? { try inner.searchStatistics(condition) }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        try inner.related(relationship, of: sources)
    }
    func value(named name: String) throws -> [UInt8]? { try inner.value(named: name) }
    func valueNames(prefix: String) throws -> [String] { try inner.valueNames(prefix: prefix) }
    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] {
        let found = try inner.logEntries(after: position, limit: limit)
        counter.withLock { $0 += found.count }
        return found
    }
    func logBounds() throws -> LogBounds { try inner.logBounds() }
    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64 { try inner.reserveIDs(entity, count: count) }
    func apply(_ changes: ChangeSet) throws { try inner.apply(changes) }
    func commit(_ durability: Durability) throws -> UInt64 { try inner.commit(durability) }
    func rollback() { inner.rollback() }
}
