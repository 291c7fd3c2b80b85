import Foundation
import HistoryTestSupport
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

/// The limits of a history, and tokens of removed entries.
@Suite struct HistoryLimitTests {
    private func add(_ stack: DataStack, _ names: [String]) async throws {
        for name in names { try await stack.perform(sourceIdentifier: name) { try $0.create(Into<Person>()).name = name } }
    }

    private func names(_ range: ClosedRange<Int>) -> [String] { range.map { "\($0)" } }

    @Test(arguments: Backend.allCases)
    func aCountKeepsTheNewestEntries(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder, history: HistoryOptions(maximumCount: 10))
        for number in 1...40 {
            try await add(stack, ["\(number)"])
            #expect(try await stack.history().map(\.author) == names(max(1, number - 9)...number))
        }
    }

    @Test(arguments: Backend.persistent)
    func limitsHoldForEntriesOfEarlierStacks(_ engine: Backend) async throws {
        let folder = try Folder()
        try await add(try engine.stack(folder), names(1...30))
        let stack = try engine.stack(folder, history: HistoryOptions(maximumCount: 5))
        #expect(try await stack.history().count == 30)
        try await add(stack, ["31"])
        #expect(try await stack.history().map(\.author) == names(27...31))
        #expect(try stack.stores[0].verifyAndWait() == [])
    }

    @Test(arguments: Backend.allCases)
    func aNumberOfBytesKeepsTheNewestEntries(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder, history: HistoryOptions(maximumBytes: 2000))
        try await add(stack, names(1...200))
        let kept = try await stack.history().count
        #expect((10..<100).contains(kept), "an entry has between 20 and 200 bytes")
        let big = String(repeating: "x", count: 5000)
        try await add(stack, [big])
        #expect(try await stack.history().map(\.author) == [big], "the newest entry is kept whatever its size")
    }

    @Test(arguments: Backend.allCases)
    func anAgeRemovesOldEntries(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder, history: HistoryOptions(maximumAge: .zero))
        try await add(stack, names(1...5))
        // Entries of the same microsecond have the same age.
        #expect(try await stack.history().last?.author == "5")
        let patient = try Folder()
        let keeping = try engine.stack(patient, history: HistoryOptions(maximumAge: .seconds(3600)))
        try await add(keeping, names(1...5))
        #expect(try await keeping.history().count == 5)
    }

    @Test(arguments: Backend.allCases)
    func aTokenOfDeletedEntriesHasExpired(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder)
        let start = try stack.historyTokenAndWait()
        try await add(stack, names(1...6))
        let history = try await stack.history()
        try await stack.deleteHistory(before: history[2].token)
        #expect(try await stack.history().map(\.author) == ["4", "5", "6"])
        for token in [start, history[0].token, history[1].token] {
            let error = await #expect(throws: StoreError.self) { try await stack.history(since: token) }
            #expect(error?.code == .historyExpired && error?.message.contains("historyToken()") == true)
        }
        #expect(try await stack.history(since: history[2].token).map(\.author) == ["4", "5", "6"])
        try stack.deleteHistoryAndWait(before: try stack.historyTokenAndWait())
        #expect(try await stack.history().isEmpty)
        try await add(stack, ["7"])
        let last = try await stack.history()
        #expect(last.map(\.author) == ["7"] && !last[0].followsUnrecordedCommits)
        #expect(throws: StoreError.self) { try stack.historyAndWait(since: history[4].token) }
    }

    @Test(arguments: Backend.allCases)
    func entriesBeforeADateAreDeleted(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder)
        try await add(stack, names(1...4))
        let dates = try await stack.history().map(\.date)
        try await stack.deleteHistory(before: dates[2])
        let kept = try await stack.history().map(\.author)
        #expect(kept.last == "4" && kept.count >= 2)
        try stack.deleteHistoryAndWait(before: Date().addingTimeInterval(60))
        #expect(try await stack.history().isEmpty)
    }

    @Test(arguments: Backend.allCases)
    func aTokenOfAnotherStoreIsRefused(_ engine: Backend) async throws {
        let (first, second) = (try Folder(), try Folder())
        let stack = try engine.stack(first)
        try await add(stack, ["1"])
        let foreign = try engine.stack(second).historyTokenAndWait()
        let error = await #expect(throws: StoreError.self) { try await stack.history(since: foreign) }
        #expect(error?.code == .storeNotFound)
    }

    @Test(arguments: Backend.allCases)
    func filtersSelectEntriesAndChanges(_ engine: Backend) async throws {
        let folder = try Folder()
        let stack = try engine.stack(folder)
        let jane = try await stack.perform(sourceIdentifier: "a") { transaction in
            try transaction.create(Into<Team>()).title = "T"
            return try transaction.create(Into<Person>()).objectID
        }
        try await stack.perform(sourceIdentifier: "b") { try $0.edit(jane).age = 2 }
        try await stack.perform { try $0.create(Into<Person>()).age = 3 }
        try await stack.perform(sourceIdentifier: "a") { try $0.delete(jane) }
        let filters: [(HistoryFilter, [String])] = [
            (.all, ["+Person 1; +Team 1", "~Person 1 age", "+Person 2", "-Person 1"]),
            (.all.changes(of: Team.self), ["+Team 1"]),
            (.all.changes(ofEntityNamed: "Team").changes(of: Person.self).kinds(.inserted), ["+Person 1; +Team 1", "+Person 2"]),
            (.all.object(jane), ["+Person 1", "~Person 1 age", "-Person 1"]),
            (.all.kinds(.updated, .deleted), ["~Person 1 age", "-Person 1"]),
            (.all.author("a"), ["+Person 1; +Team 1", "-Person 1"]),
            (.all.author(nil).author("b"), ["~Person 1 age", "+Person 2"]),
            (.all.dates(Date.distantPast..<Date.distantFuture).author("b"), ["~Person 1 age"]),
            (.all.dates(Date.distantPast..<Date.distantPast.addingTimeInterval(1)), []),
        ]
        let end = try stack.historyTokenAndWait()
        for (filter, expected) in filters {
            let history = try await stack.history(matching: filter)
            #expect(history.summary == expected)
            #expect(history.token == end)
        }
    }
}
