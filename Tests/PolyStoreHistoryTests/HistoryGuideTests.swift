import Foundation
import HistoryTestSupport
import PolyStore
import PolyStoreBackend
import PolyStoreSQLite
import TestSupport
import Testing

/// The programs of docs/guides/history.md.
@Suite struct HistoryGuideTests {
    @Test func historyIsReadFromWhereTheLastReadingEnded() async throws {
        let folder = try Folder()
        let file = folder.file()
        let tokenFile = URL(fileURLWithPath: folder.file("token"))
        let stack = try DataStack(HistoryModels.schema())
        try stack.addStore(.sqlite(file: file), history: HistoryOptions(maximumAge: .seconds(30 * 86_400)))
        try await stack.perform(sourceIdentifier: "sync") { transaction in
            let jane = try transaction.create(Into<Person>())
            jane.name = "Jane"
        }
        var lines: [String] = []
        func index(_ ids: Set<ObjectID<Person>>) { lines += ids.map { "index \($0.rowID)" } }
        func removeFromIndex(_ ids: Set<ObjectID<Person>>) { lines += ids.map { "remove \($0.rowID)" } }

        let saved = try? JSONDecoder().decode(HistoryToken.self, from: Data(contentsOf: tokenFile))
        let history = try await stack.history(since: saved, matching: .all.changes(of: Person.self))
        for entry in history where entry.author != "indexer" {
            index(entry.insertedObjectIDs(Person.self))
            index(entry.updatedObjectIDs(Person.self))
            removeFromIndex(entry.deletedObjectIDs(Person.self))
        }
        try JSONEncoder().encode(history.token).write(to: tokenFile)

        #expect(lines == ["index 1"])
        let again = try JSONDecoder().decode(HistoryToken.self, from: Data(contentsOf: tokenFile))
        #expect(try await stack.history(since: again).isEmpty)
    }

    @Test func anExpiredTokenIsReplaced() async throws {
        let folder = try Folder()
        let stack = try DataStack(HistoryModels.schema())
        try stack.addStore(.sqlite(file: folder.file()), history: HistoryOptions())
        let token = try await stack.historyToken()
        try await stack.perform { try $0.create(Into<Person>()).name = "Jane" }
        try await stack.deleteHistory(before: try await stack.historyToken())
        var isReindexed = false
        func indexEverything() { isReindexed = true }

        var history: History?
        var next = token
        do {
            history = try await stack.history(since: token)
        } catch let error as StoreError where error.code == .historyExpired {
            next = try await stack.historyToken()
            indexEverything()
        }

        #expect(history == nil && isReindexed)
        #expect(try await stack.history(since: next).isEmpty)
    }

    @Test func previousValuesShowOverwrittenValues() async throws {
        let folder = try Folder()
        let stack = try DataStack(HistoryModels.schema())
        try stack.addStore(.sqlite(file: folder.file()), history: HistoryOptions(recordsPreviousValues: true))
        let jane = try await stack.perform { transaction in
            let jane = try transaction.create(Into<Person>())
            jane.name = "Jane"
            return jane.objectID
        }
        try await stack.perform { try $0.delete(jane) }

        let deletions = try await stack.history(matching: .all.changes(of: Person.self).kinds(.deleted))
        let names = deletions.flatMap(\.changes).compactMap { $0.previousValues["name"]?.string }

        #expect(names == ["Jane"])
    }
}
