import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

// The versions of a library's stores. Each adds to the one before it; `Branch` is another change of the first.

private enum First {
    @Model
    final class Book {
        var title: String = ""
        var pages: Int = 0
    }

    static let schema = Schema("Library 1", Book.self)
}

private enum Second {
    @Model
    final class Book {
        @Attribute(originalName: "title") var name: String = ""
        var pages: Int = 0
        var isbn: String?
    }

    @Model
    final class Shelf {
        var label: String = ""
    }

    static let schema = Schema("Library 2", Book.self, Shelf.self)
}

/// The data of the second version, with another index.
private enum Indexed {
    @Model
    final class Book {
        @Attribute(.indexed, originalName: "title") var name: String = ""
        var pages: Int = 0
        var isbn: String?
    }

    @Model
    final class Shelf {
        var label: String = ""
    }

    static let schema = Schema("Library 2 with an index", Book.self, Shelf.self)
}

private enum Third {
    @Model
    final class Book {
        @Attribute(originalName: "title") var name: String = ""
        var pages: Int = 0
        var isbn: String?
        var language: String = "en"
    }

    @Model
    final class Shelf {
        var label: String = ""
    }

    static let schema = Schema("Library 3", Book.self, Shelf.self)
}

private enum Branch {
    @Model
    final class Book {
        var title: String = ""
        var pages: Int = 0
        var author: String?
    }

    static let schema = Schema("Library 2 of another branch", Book.self)
}

private enum Narrow {
    @Model
    final class Sample {
        var size: Int8 = 7
        var ratio: Float = 0
        var code: Int = -1
        var level: Int16?
        var day: Date?
        var isOn: Bool = false
    }

    @Model
    final class Grade {
        var mark: Int8
    }

    static let schema = Schema("Samples 1", Sample.self, Grade.self)
}

private enum Wide {
    @Model
    final class Sample {
        var size: Int = 7
        var ratio: Double = 0
        var code: String = ""
        var level: Decimal?
        var day: String?
        var isOn: String = "false"
    }

    @Model
    final class Grade {
        var mark: Int = 0
    }

    static let schema = Schema("Samples 2", Sample.self, Grade.self)
}

/// A store keeps its versions, and an earlier one does not open it.
@Suite
struct StoreVersionTests {
    /// Creates a store of the first version, and migrates it to the second.
    private func second(_ store: StoreConfiguration) async throws {
        let first = try DataStack(First.schema, logger: SilentLogger())
        try first.addStore(store)
        try await first.perform { transaction in
            for number in 1...3 {
                let book = try transaction.create(Into<First.Book>())
                book.title = "Book \(number)"
                book.pages = 100 * number
            }
        }
        try await first.close()
        try await toSecond(store)
    }

    private func toSecond(_ store: StoreConfiguration) async throws {
        let stack = try DataStack(Second.schema, logger: SilentLogger())
        try await stack.addStore(store, migrating: .lightweight)
        try await stack.perform { transaction in
            for book in try transaction.fetchAll(From<Second.Book>()) where book.pages >= 200 { book.isbn = "isbn \(book.pages)" }
            try transaction.create(Into<Second.Shelf>()).label = "poetry"
        }
        try await stack.close()
    }

    private func isSecond(_ store: StoreConfiguration) async throws {
        let stack = try DataStack(Second.schema, logger: SilentLogger())
        try stack.addStore(store)
        let books = try await stack.read { context in
            try context.fetchAll(From<Second.Book>(), OrderBy(.ascending(\.pages))).map { "\($0.name) \($0.isbn ?? "-")" }
        }
        #expect(books == ["Book 1 -", "Book 2 isbn 200", "Book 3 isbn 300"])
        #expect(try await stack.read { try $0.fetchCount(From<Second.Shelf>()) } == 1)
        #expect(try stack.stores[0].verifyAndWait() == [])
        try await stack.close()
    }

    private func refuses(_ error: (any Error)?, _ form: String) {
        let error = error as? StoreError
        #expect(error?.code == .incompatibleSchema, "\(form): \(error.map { "\($0)" } ?? "no error")")
        for part in ["\"Library 1\"", "\"Library 2\"", ".lightweight(allowsDowngrade: true)"] {
            #expect(error?.message.contains(part) ?? false, "\(form) does not name \(part): \(error?.message ?? "")")
        }
    }

    private func failure<T>(_ body: () async throws -> T) async -> (any Error)? {
        do {
            _ = try await body()
            return nil
        } catch { return error }
    }

    @Test("a store of the second version refuses the first in every migrating form, and keeps its data", arguments: Backend.persistent)
    func earlierVersion(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try await second(store)
        let policies: [(String, MigrationPolicy)] = [
            ("lightweight", .lightweight), ("chain without a chain", .chain), ("a chain of one version", .chain(["Library 1"])),
            ("a chain to the first", .chain(["Library 0", "Library 1"])), ("a chain backwards", .chain(["Library 2", "Library 1"])),
            ("with a copy", .lightweight.keepingCopy(at: folder.file("copy"))), ("not a downgrade", .lightweight(allowsDowngrade: false)),
        ]
        for (form, policy) in policies {
            let stack = try DataStack(First.schema, logger: SilentLogger())
            refuses(await failure { try await stack.addStore(store, migrating: policy) }, form)
            refuses(await failure { try await stack.requiredMigrations(for: store, migrating: policy) }, "required, \(form)")
            refuses(await failure { try await stack.rehearseMigration(of: store, migrating: policy) }, "rehearsal, \(form)")
            refuses(await failure { try await stack.upgradeStoreIfNeeded(store, migrating: policy) }, "upgrade, \(form)")
            refuses(await failure { try stack.upgradeStoreIfNeededAndWait(store, migrating: policy) }, "upgrade and wait, \(form)")
        }
        let withHistory = try DataStack(SchemaHistory(First.schema, migrationChain: ["Library 1"]), logger: SilentLogger())
        refuses(await failure { try await withHistory.addStore(store, migrating: .chain) }, "the history's chain")
        #expect(!FileManager.default.fileExists(atPath: folder.file("copy")))
        try await isSecond(store)
    }

    @Test("a downgrade that is allowed migrates back, and reports what is lost", arguments: Backend.persistent)
    func downgrade(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try await second(store)
        let policy = MigrationPolicy.lightweight(allowsDowngrade: true)
        let stack = try DataStack(First.schema, logger: SilentLogger())
        let rehearsed = try await stack.rehearseMigration(of: store, migrating: policy)
        let lost = ["Book.isbn: 2", "Shelf: 1"]
        func losses(_ report: MigrationReport?) -> [String] {
            let found = (report?.findings ?? []).filter { $0.kind == .lost }
            return found.map { "\($0.entity)\($0.property.map { ".\($0)" } ?? ""): \($0.count)" }.sorted()
        }
        #expect(losses(rehearsed) == lost)
        #expect(rehearsed.isPossible)
        try await isSecond(store)
        #expect(try await stack.requiredMigrations(for: store, migrating: policy).count == 1)
        let run = stack.startAddingStore(store, migrating: policy)
        _ = try await run.value
        #expect(losses(run.report) == lost)
        // A renamed attribute keeps its values on the way back.
        let titles = try await stack.read { try $0.fetchAll(From<First.Book>(), OrderBy(.ascending(\.pages))).map(\.title) }
        #expect(titles == ["Book 1", "Book 2", "Book 3"])
        #expect(try stack.stores[0].verifyAndWait() == [])
        try await stack.close()

        // Forward again, which is not a downgrade; then the first version is refused again.
        try await toSecond(store)
        try await isSecond(store)
        let again = try DataStack(First.schema, logger: SilentLogger())
        refuses(await failure { try await again.addStore(store, migrating: .lightweight) }, "after the second upgrade")
        // The report of an upgrade lists only losses that were asked for.
        #expect(try await DataStack(Second.schema, logger: SilentLogger()).upgradeStoreIfNeeded(store, migrating: policy).steps.isEmpty)
    }

    @Test("a downgrade to narrower types carries the values that fit, and reports the others", arguments: Backend.persistent)
    func narrowing(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let first = try DataStack(Narrow.schema, logger: SilentLogger())
        try first.addStore(store)
        let day = Date(timeIntervalSinceReferenceDate: 86_400)
        try await first.perform { transaction in
            let sample = try transaction.create(Into<Narrow.Sample>())
            (sample.size, sample.ratio, sample.code, sample.level, sample.day, sample.isOn) = (100, 0.1, 42, 5, day, true)
        }
        try await first.close()
        let second = try DataStack(Wide.schema, logger: SilentLogger())
        try await second.addStore(store, migrating: .lightweight)
        let (misfit, grades) = try await second.perform { transaction in
            let sample = try transaction.create(Into<Wide.Sample>())
            (sample.size, sample.ratio, sample.code, sample.level, sample.day, sample.isOn) = (1000, 0.1, "007", 1.5, "monday", "maybe")
            let grades = try [5, 300].map { mark in
                let grade = try transaction.create(Into<Wide.Grade>())
                grade.mark = mark
                return grade.objectID
            }
            return (sample.objectID.rowID, grades)
        }
        try await second.close()
        let policy = MigrationPolicy.lightweight(allowsDowngrade: true)
        // A required attribute without a default has no value that could replace one that does not fit.
        let refused = try await first.rehearseMigration(of: store, migrating: policy).findings.filter { $0.kind == .refused }
        #expect(refused.map { "\($0.entity).\($0.property ?? "") \($0.rowIDs)" } == ["Grade.mark [\(grades[1].rowID)]"])
        let error = await failure { try await first.upgradeStoreIfNeeded(store, migrating: policy) } as? StoreError
        #expect(error?.entity == "Grade" && error?.attribute == "mark" && error?.rowID == grades[1].rowID, "\(error.map { "\($0)" } ?? "")")
        try second.addStore(store)
        try await second.perform { try $0.edit(grades[1]).mark = -128 }
        try await second.close()

        let rehearsed = try await first.rehearseMigration(of: store, migrating: policy)
        let report = try await first.upgradeStoreIfNeeded(store, migrating: policy)
        #expect(report.findings == rehearsed.findings)
        let lost = report.findings.map { "\($0.kind) \($0.entity).\($0.property ?? "") \($0.rowIDs)" }.sorted()
        #expect(lost == ["code", "day", "isOn", "level", "ratio", "size"].map { "lost Sample.\($0) [\(misfit)]" })
        try first.addStore(store)
        #expect(try first.stores[0].verifyAndWait() == [])
        let samples = try await first.read { context in
            try context.fetchAll(From<Narrow.Sample>()).map {
                "\($0.size) \($0.ratio) \($0.code) \($0.level.map(String.init) ?? "-") \($0.day == day) \($0.isOn)"
            }
        }
        #expect(samples == ["100 0.1 42 5 true true", "7 0.1 -1 - false false"])
        #expect(try await first.read { try $0.fetchAll(From<Narrow.Grade>()).map(\.mark) } == [5, -128])
        try await first.close()
        // A migration forward to a narrower type is refused as before.
        let other = backend.store(at: folder.file("forward"))
        try second.addStore(other)
        try await second.perform { try $0.create(Into<Wide.Sample>()).size = 1 }
        try await second.close()
        let forward = await failure { try await first.addStore(other, migrating: .lightweight(allowsDowngrade: true)) } as? StoreError
        #expect(forward?.entity == "Sample", "\(forward.map { "\($0)" } ?? "no error")")
    }

    @Test("a version of another branch is refused as an earlier one is", arguments: Backend.persistent)
    func branches(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try await second(store)
        let allowed = MigrationPolicy.lightweight(allowsDowngrade: true)
        func migrate(_ schema: Schema, _ policy: MigrationPolicy) async throws {
            let stack = try DataStack(schema, logger: SilentLogger())
            try await stack.upgradeStoreIfNeeded(store, migrating: policy)
        }
        try await migrate(First.schema, allowed)
        try await migrate(Branch.schema, .lightweight)
        for (schema, policy) in [(Second.schema, MigrationPolicy.lightweight), (First.schema, .lightweight), (Second.schema, .chain)] {
            let error = await failure { try await migrate(schema, policy) } as? StoreError
            #expect(error?.code == .incompatibleSchema, "\(schema.name): \(error.map { "\($0)" } ?? "no error")")
            #expect(error?.message.contains("\"Library 2 of another branch\"") ?? false, "\(error?.message ?? "")")
        }
        try await migrate(Second.schema, allowed)
        let back = await failure { try await migrate(Branch.schema, .lightweight) } as? StoreError
        #expect(back?.code == .incompatibleSchema, "\(back.map { "\($0)" } ?? "no error")")
        try await migrate(Branch.schema, allowed)
        try await migrate(First.schema, allowed)
        try await migrate(Second.schema, .lightweight)
        try await migrate(Third.schema, .lightweight)
        let error = await failure { try await migrate(Second.schema, .lightweight) } as? StoreError
        #expect(error?.code == .incompatibleSchema, "\(error.map { "\($0)" } ?? "no error")")
    }

    @Test("a backup and a copy beside the migration carry the versions", arguments: Backend.persistent)
    func copies(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try await second(store)
        let stack = try DataStack(Second.schema, logger: SilentLogger())
        try stack.addStore(store)
        try await stack.stores[0].backUp(to: folder.file("backup"))
        try await stack.close()
        let third = try DataStack(Third.schema, logger: SilentLogger())
        try await third.upgradeStoreIfNeeded(store, migrating: .lightweight.keepingCopy(at: folder.file("before")))
        for name in ["backup", "before"] {
            let copy = backend.store(at: folder.file(name))
            let first = try DataStack(First.schema, logger: SilentLogger())
            refuses(await failure { try await first.addStore(copy, migrating: .lightweight) }, name)
            try await isSecond(copy)
        }
    }

    @Test("a history gives a store its earlier versions with the first commit", arguments: Backend.persistent)
    func history(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let second = try DataStack(SchemaHistory(First.schema.locked, Second.schema), logger: SilentLogger())
        try second.addStore(store)
        try await second.perform { try $0.create(Into<Second.Book>()).isbn = "kept" }
        try await second.close()
        let first = try DataStack(First.schema, logger: SilentLogger())
        refuses(await failure { try await first.addStore(store, migrating: .lightweight) }, "a store that never had the first version")

        // A version between two others, which the store skipped.
        let skipping = backend.store(at: folder.file("skipping"))
        try first.addStore(skipping)
        try await first.perform { try $0.create(Into<First.Book>()).title = "kept" }
        try await first.close()
        let chain: MigrationChain = ["Library 1", "Library 2", "Library 3"]
        let third = try DataStack(
            SchemaHistory(First.schema.locked, Second.schema.locked, Third.schema, migrationChain: chain), logger: SilentLogger())
        try await third.upgradeStoreIfNeeded(skipping, migrating: .lightweight)
        let between = try DataStack(Second.schema, logger: SilentLogger())
        let error = await failure { try await between.addStore(skipping, migrating: .lightweight) } as? StoreError
        #expect(error?.code == .incompatibleSchema, "\(error.map { "\($0)" } ?? "no error")")
        for part in ["\"Library 2\"", "\"Library 3\""] { #expect(error?.message.contains(part) ?? false, "\(error?.message ?? "")") }
    }

    @Test("a store returns to a version that differs from the one before it in an index only", arguments: Backend.persistent)
    func onlyAnIndexChanged(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let versions: [any SchemaVersion] = [First.schema.locked, Second.schema.locked, Indexed.schema]
        let chain: MigrationChain = ["Library 1", "Library 2", "Library 2 with an index"]
        for history in [SchemaHistory(versions), SchemaHistory(versions, migrationChain: chain)] {
            let latest = try DataStack(history, logger: SilentLogger())
            try latest.addStore(store)
            try await latest.perform { try $0.create(Into<Indexed.Book>()).name = "kept" }
            try await latest.close()
            let first = try DataStack(First.schema, logger: SilentLogger())
            let error = await failure { try await first.addStore(store, migrating: .lightweight) } as? StoreError
            #expect(error?.code == .incompatibleSchema, "\(error.map { "\($0)" } ?? "no error")")
            try await first.upgradeStoreIfNeeded(store, migrating: .lightweight(allowsDowngrade: true))
            try await latest.upgradeStoreIfNeeded(store, migrating: .lightweight)
            try latest.addStore(store)
            #expect(try await latest.read { try $0.fetchAll(From<Indexed.Book>()).map(\.name) } == ["kept"])
            #expect(try latest.stores[0].verifyAndWait() == [])
            try await latest.close()
            try store.erase()
        }
    }

    @Test("a chain whose version is missing is refused for that reason, not as a downgrade", arguments: Backend.persistent)
    func missingVersionOfAChain(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let first = try DataStack(First.schema, logger: SilentLogger())
        try first.addStore(store)
        try await first.perform { try $0.create(Into<First.Book>()).title = "kept" }
        try await first.close()
        try await DataStack(Branch.schema, logger: SilentLogger()).upgradeStoreIfNeeded(store, migrating: .lightweight)
        let third = Schema("Library 3 without authors", First.Book.self)
        func error(_ chain: MigrationChain) async throws -> StoreError? {
            let history = SchemaHistory(Branch.schema.locked, third, migrationChain: chain)
            return await failure { try await DataStack(history, logger: SilentLogger()).upgradeStoreIfNeeded(store) } as? StoreError
        }
        let missing = try await error([Branch.schema.name, "Library 2.5", third.name])
        #expect(missing?.code == .invalidSchema, "\(missing.map { "\($0)" } ?? "no error")")
        for part in ["\"Library 2.5\"", "LockedSchema"] { #expect(missing?.message.contains(part) ?? false, "\(missing?.message ?? "")") }
        // A chain that does not contain the version of the store declares no order.
        let other = try await error(["Library 0", third.name])
        #expect(other?.code == .incompatibleSchema, "\(other.map { "\($0)" } ?? "no error")")
        #expect(other?.message.contains(".lightweight(allowsDowngrade: true)") ?? false, "\(other?.message ?? "")")
    }

    @Test("a later version with the data of an earlier one is reached by a chain that declares it", arguments: Backend.persistent)
    func reverted(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let first = try DataStack(First.schema, logger: SilentLogger())
        try first.addStore(store)
        try await first.perform { try $0.create(Into<First.Book>()).title = "kept" }
        try await first.close()
        try await DataStack(Branch.schema, logger: SilentLogger()).upgradeStoreIfNeeded(store, migrating: .lightweight)
        // The third version removes what the second has added.
        let third = Schema("Library 3 without authors", First.Book.self)
        func migrate(_ schema: Schema) async throws {
            try await DataStack(schema, logger: SilentLogger()).upgradeStoreIfNeeded(store, migrating: .lightweight)
        }
        let plain = await failure { try await migrate(third) }
        #expect((plain as? StoreError)?.code == .incompatibleSchema)
        let declared = SchemaHistory(
            First.schema.locked, Branch.schema.locked, third, migrationChain: ["Library 1", Branch.schema.name, third.name])
        let stack = try DataStack(declared, logger: SilentLogger())
        #expect(try await stack.upgradeStoreIfNeeded(store, migrating: .chain).steps.count == 1)
        // The version before it is refused now.
        let error = await failure { try await migrate(Branch.schema) }
        #expect((error as? StoreError)?.code == .incompatibleSchema, "\(error.map { "\($0)" } ?? "no error")")
        try stack.addStore(store)
        #expect(try await stack.read { try $0.fetchAll(From<First.Book>()).map(\.title) } == ["kept"])
    }

    @Test(
        "a stack that has the first version open gets an error after a migration, and loses nothing after one there and back",
        arguments: Backend.persistent)
    func open(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let first = try DataStack(First.schema, logger: SilentLogger())
        try first.addStore(store)
        try await first.perform { try $0.create(Into<First.Book>()).title = "first" }
        try await toSecond(store)
        func isTold(_ what: String) async throws {
            let write = await failure { try await first.perform { try $0.create(Into<First.Book>()).title = "lost" } } as? StoreError
            #expect(write?.code == .differentStoreAtURL, "\(what): \(write.map { "\($0)" } ?? "no error")")
            let read = await failure { try await first.read { try $0.fetchCount(From<First.Book>()) } } as? StoreError
            #expect(read?.code == .differentStoreAtURL, "\(what): \(read.map { "\($0)" } ?? "no error")")
        }
        try await isTold("the second version")
        let back = try DataStack(First.schema, logger: SilentLogger())
        try await back.upgradeStoreIfNeeded(store, migrating: .lightweight(allowsDowngrade: true))
        // The store has the schema with which it was opened, in other numbers and layouts: the stack follows or gets an error.
        let late = await failure { try await first.perform { try $0.create(Into<First.Book>()).title = "late" } } as? StoreError
        #expect(late == nil || late?.code == .differentStoreAtURL, "\(late.map { "\($0)" } ?? "")")
        try await first.close()
        try back.addStore(store)
        let titles = try await back.read { try $0.fetchAll(From<First.Book>()).map(\.title).sorted() }
        #expect(titles == (late == nil ? ["first", "late"] : ["first"]))
        #expect(try back.stores[0].verifyAndWait() == [])
    }

    @Test(
        "a stack that has the store open loses nothing when its entity is written under new numbers and back", arguments: Backend.persistent
    )
    func openAndRewritten(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let first = try DataStack(First.schema, logger: SilentLogger())
        try first.addStore(store)
        try await first.perform { try $0.create(Into<First.Book>()).title = "first" }
        // The mapping reads and writes every book.
        let rewriting = SchemaHistory(
            First.schema.locked, Branch.schema,
            mappings: [
                SchemaMapping(from: "Library 1", to: Branch.schema.name, [.update("Book") { _, new in new["author"] = "unknown" }])
            ])
        try await DataStack(rewriting, logger: SilentLogger()).upgradeStoreIfNeeded(store)
        let back = try DataStack(First.schema, logger: SilentLogger())
        try await back.upgradeStoreIfNeeded(store, migrating: .lightweight(allowsDowngrade: true))
        let late = await failure { try await first.perform { try $0.create(Into<First.Book>()).title = "late" } } as? StoreError
        #expect(late == nil || late?.code == .differentStoreAtURL, "\(late.map { "\($0)" } ?? "")")
        try await first.close()
        try back.addStore(store)
        let titles = try await back.read { try $0.fetchAll(From<First.Book>()).map(\.title).sorted() }
        #expect(titles == (late == nil ? ["first", "late"] : ["first"]))
        #expect(try back.stores[0].verifyAndWait() == [])
    }
}
