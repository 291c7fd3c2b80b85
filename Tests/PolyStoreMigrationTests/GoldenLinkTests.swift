import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

/// The version of the stores, and the one before it, which has no players.
private enum Links0 {
    @Model
    final class Team {
        var name: String = ""
    }

    static let schema = Schema("Links 0", Team.self)
}

private enum Links1 {
    @Model
    final class Team {
        var name: String = ""
        @Relationship var players: Set<Player>
    }

    @Model
    final class Player {
        var name: String = ""
        @Relationship var friends: Set<Player>
    }

    @Model
    final class Author {
        var name: String = ""
        @Relationship var books: [Book]
    }

    @Model
    final class Book {
        var name: String = ""
        @Relationship var author: Author?
    }

    @Model
    final class Country {
        var name: String = ""
        @Relationship var capital: City?
    }

    @Model
    final class City {
        var name: String = ""
    }

    static let schema = Schema("Links 1", Team.self, Player.self, Author.self, Book.self, Country.self, City.self)
}

private enum Links2 {
    @Model
    final class Team {
        var name: String = ""
        @Relationship var players: Set<Player>
    }

    @Model
    final class Player {
        var name: String = ""
        @Relationship(inverse: "friends") var friends: Set<Player>
        @Relationship(inverse: "players") var team: Team?
    }

    @Model
    final class Author {
        var name: String = ""
        @Relationship var books: [Book]
    }

    @Model
    final class Book {
        var name: String = ""
        @Relationship(inverse: "books") var author: Author?
    }

    @Model
    final class Country {
        var name: String = ""
        @Relationship var capital: City?
    }

    @Model
    final class City {
        var name: String = ""
        @Relationship(inverse: "capital") var country: Country?
    }

    static let schema = Schema("Links 2", Team.self, Player.self, Author.self, Book.self, Country.self, City.self)
}

/// Stores with relationships of each form that an earlier release has written, without a list of their versions; see `Tests/Golden/README.md`.
@Suite
struct GoldenLinkTests {
    /// Returns a copy of a store in `Tests/Golden`.
    private func golden(_ backend: Backend, _ folder: Folder) throws -> StoreConfiguration {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let path = folder.file("store")
        try FileManager.default.copyItem(atPath: tests.appendingPathComponent("Golden/\(backend)-links-1.store").path, toPath: path)
        return backend.store(at: path)
    }

    /// Returns the error of an attempt to open a store with an earlier version.
    private func refusal(_ schema: Schema, _ store: StoreConfiguration, _ policy: MigrationPolicy = .lightweight) async throws
        -> StoreError?
    {
        let stack = try DataStack(schema, logger: SilentLogger())
        do {
            try await stack.addStore(store, migrating: policy)
            try await stack.close()
            return nil
        } catch { return error as? StoreError }
    }

    @Test("the links of a store of an earlier release are carried to inverses of each form", arguments: Backend.persistent)
    func linksAreCarried(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = try golden(backend, folder)
        let stack = try DataStack(Links2.schema, logger: SilentLogger())
        #expect(try await stack.rehearseMigration(of: store, migrating: .lightweight).findings == [])
        let added = try await stack.addStore(store, migrating: .lightweight)
        #expect(try added.verifyAndWait() == [])
        let found = try await stack.read { context in
            func ids<M: Model>(_ objects: some Sequence<M>) -> [Int64] { objects.map(\.objectID.rowID) }
            var found: [String: [Int64: [Int64]]] = [:]
            for team in try context.fetchAll(From<Links2.Team>()) {
                found["players", default: [:]][team.objectID.rowID] = ids(team.players).sorted()
            }
            for player in try context.fetchAll(From<Links2.Player>()) {
                found["friends", default: [:]][player.objectID.rowID] = ids(player.friends).sorted()
                found["team", default: [:]][player.objectID.rowID] = ids([player.team].compactMap(\.self))
            }
            for author in try context.fetchAll(From<Links2.Author>()) {
                found["books", default: [:]][author.objectID.rowID] = ids(author.books)
            }
            for book in try context.fetchAll(From<Links2.Book>()) {
                found["author", default: [:]][book.objectID.rowID] = ids([book.author].compactMap(\.self))
            }
            for country in try context.fetchAll(From<Links2.Country>()) {
                found["capital", default: [:]][country.objectID.rowID] = ids([country.capital].compactMap(\.self))
            }
            for city in try context.fetchAll(From<Links2.City>()) {
                found["country", default: [:]][city.objectID.rowID] = ids([city.country].compactMap(\.self))
            }
            return found
        }
        // A to-many relationship gets a to-one inverse.
        #expect(found["players"] == [1: [1, 2], 2: [4], 3: []])
        #expect(found["team"] == [1: [1], 2: [1], 3: [], 4: [2], 5: []])
        // One becomes symmetric.
        #expect(found["friends"] == [1: [2, 3], 2: [1], 3: [1], 4: [], 5: [5]])
        // Two become inverses, and one of them has an order.
        #expect(found["books"] == [1: [2, 1], 2: [5, 4, 3], 3: []])
        #expect(found["author"] == [1: [1], 2: [1], 3: [2], 4: [2], 5: [2]])
        // A to-one relationship gets a to-one inverse.
        #expect(found["capital"] == [1: [3], 2: [1], 3: []])
        #expect(found["country"] == [1: [2], 2: [], 3: [1], 4: []])
        try await stack.close()
    }

    @Test("a store of an earlier release that was migrated refuses the schema that it had", arguments: Backend.persistent)
    func formerSchemaIsRefused(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = try golden(backend, folder)
        try await DataStack(Links2.schema, logger: SilentLogger()).upgradeStoreIfNeeded(store, migrating: .lightweight)
        for policy in [MigrationPolicy.lightweight, .chain, .chain(["Links 1"])] {
            #expect(try await refusal(Links1.schema, store, policy)?.code == .incompatibleSchema)
        }
        let plain = #expect(throws: StoreError.self) { try DataStack(Links1.schema, logger: SilentLogger()).addStore(store) }
        #expect(plain?.code == .migrationRequired)
        // It still opens, and its links are those of the migration.
        let stack = try DataStack(Links2.schema, logger: SilentLogger())
        #expect(try stack.addStore(store).verifyAndWait() == [])
        #expect(try await stack.read { try $0.fetchAll(From<Links2.Player>()).compactMap { $0.team?.objectID.rowID } } == [1, 1, 2])
    }

    @Test("the first opening of a store without a list of its versions begins the list", arguments: Backend.persistent)
    func openingBeginsTheList(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = try golden(backend, folder)
        func open(_ store: StoreConfiguration, _ schemas: [any SchemaVersion]) async throws -> UInt64 {
            let stack = try DataStack(SchemaHistory(schemas), logger: SilentLogger())
            let added = try stack.addStore(store)
            let reader = try added.backendForTests.beginRead()
            let version = try reader.version
            reader.end()
            try await stack.close()
            return version
        }
        let history: [any SchemaVersion] = [Links0.schema.locked, Links1.schema]
        if backend != .levelDB {
            // An opening for reading changes nothing.
            let reading = store.readOnly()
            let before = try await open(reading, history)
            #expect(try await open(reading, history) == before)
        }
        let copy = backend.store(at: folder.file("copy"))
        try FileManager.default.copyItem(atPath: store.location, toPath: copy.location)
        // No stack has opened the copy for writing, so that it does not know its former version.
        #expect(try await refusal(Links0.schema, copy) == nil)
        let first = try await open(store, history)
        let error = try await refusal(Links0.schema, store)
        #expect(error?.code == .incompatibleSchema, "\(error.map { "\($0)" } ?? "no error")")
        #expect(error?.message.contains("\"Links 0\"") ?? false && error?.message.contains("\"Links 1\"") ?? false)
        // A store that has the list is only read.
        #expect(try await open(store, history) == first)
        #expect(try await open(store, [Links1.schema]) == first)
    }

    @Test("the commit that begins the list at an opening leaves no gap in the history", arguments: Backend.persistent)
    func openingLeavesNoGap(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = try golden(backend, folder)
        let recording = try DataStack(Links1.schema, logger: SilentLogger())
        try recording.addStore(store, history: HistoryOptions())
        try await recording.perform { try $0.create(Into<Links1.Team>()).name = "first" }
        let last = try #require(try await recording.history().last)
        try await recording.close()
        // Another version is placed before the one of the store, once by a stack that records no history and once by one that does.
        let versions: [[any SchemaVersion]] = [
            [Links0.schema.locked, Links1.schema], [LockedSchema("Links -1", entities: []), Links0.schema.locked, Links1.schema],
        ]
        for (history, options) in zip(versions, [nil, HistoryOptions()]) {
            let stack = try DataStack(SchemaHistory(history), logger: SilentLogger())
            let added = try stack.addStore(store, history: options)
            let reader = try added.backendForTests.beginRead()
            defer { reader.end() }
            #expect(try reader.version > last.version)
            #expect(try await stack.history(since: last.token).isEmpty)
            try await stack.close()
        }
        try recording.addStore(store, history: HistoryOptions())
        try await recording.perform { try $0.create(Into<Links1.Team>()).name = "second" }
        let entries = try await recording.history(since: last.token)
        #expect(entries.map(\.followsUnrecordedCommits) == [false])
        try await recording.close()
    }

    @Test("an opening does not wait for a transaction of another stack of the process", arguments: Backend.persistent)
    func openingInsideATransaction(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = try golden(backend, folder)
        let writing = try DataStack(Links1.schema, logger: SilentLogger())
        try writing.addStore(store)
        let opening = try DataStack(SchemaHistory(Links0.schema.locked, Links1.schema), logger: SilentLogger())
        try writing.performAndWait { transaction in
            try transaction.create(Into<Links1.Team>()).name = "new"
            try opening.addStore(store)
        }
        // Its first commit completes the list.
        try await opening.perform { try $0.create(Into<Links1.Team>()).name = "newer" }
        try await opening.close()
        try await writing.close()
        #expect(try await refusal(Links0.schema, store)?.code == .incompatibleSchema)
    }
}
