import Foundation
import PolyStore
import PolyStoreBackend
import PolyStoreMemory
import TestSupport
import Testing

/// Stores that cannot be migrated are unchanged, and the error states the reason.
@Suite
struct MigrationRefusalTests {
    private func earlier(_ change: (inout SchemaDescription) -> Void) -> SchemaDescription {
        var description = SchemaDescription.current
        change(&description)
        description.name = "Earlier"
        return description
    }

    /// Fills a store of an earlier version, expects its migration to fail, and checks that the store is unchanged.
    private func refuses(
        _ backend: Backend, _ code: StoreError.Code, _ message: String, kind: MigrationReport.Finding.Kind = .refused, count: Int? = nil,
        _ change: (inout SchemaDescription) -> Void
    ) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let old = try ResolvedSchema(earlier(change))
        let before = try store.fill(old, rows: 300)
        let stack = try DataStack(currentSchema, logger: SilentLogger())
        let rehearsal = try await stack.rehearseMigration(of: store)
        #expect(!rehearsal.isPossible)
        let finding = rehearsal.findings.first { $0.kind == kind }
        #expect(finding?.message.contains(message) ?? false, "\(rehearsal)")
        if let count { #expect(finding?.count == count) }
        let copy = folder.file("copy")
        let error = await #expect(throws: StoreError.self) { try await stack.addStore(store, migrating: .chain.keepingCopy(at: copy)) }
        #expect(!FileManager.default.fileExists(atPath: copy), "a refused migration leaves a copy")
        #expect(error?.code == code, "\(error.map { "\($0)" } ?? "")")
        #expect(error?.message.contains(message) ?? false, "\(error?.message ?? "")")
        #expect(try store.contents(old).differences(from: before) == [])
    }

    @Test("a required attribute without default is added", arguments: Backend.persistent)
    func missing(_ backend: Backend) async throws {
        // The store's version lacks a required attribute without default.
        let folder = try Folder()
        let store = backend.store(in: folder)
        var old = SchemaDescription(name: "Earlier", entities: Schema("S", Person.self, Address.self).locked.entities)
        old["Person"].remove("name")
        let before = try store.fill(ResolvedSchema(old), rows: 20)
        let stack = try DataStack(Schema("S", Person.self, Address.self), logger: SilentLogger())
        let error = await #expect(throws: StoreError.self) { try await stack.addStore(store, migrating: .lightweight) }
        #expect(error?.code == .constraint)
        #expect(error?.message.contains("Person.name is added, must have a value and has no default") ?? false, "\(error?.message ?? "")")
        #expect(try store.contents(ResolvedSchema(old)).differences(from: before) == [])
        // An empty store has no object without a value.
        let empty = backend.store(in: folder, "empty")
        _ = try empty.fill(ResolvedSchema(old), rows: 0)
        try await stack.addStore(empty, migrating: .lightweight)
    }

    @Test("null in a required attribute without default", arguments: Backend.persistent)
    func null(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        var old = SchemaDescription(name: "Earlier", entities: Schema("S", Person.self, Address.self).locked.entities)
        old["Person"].attribute("name") { $0.isOptional = true }
        let before = try store.fill(ResolvedSchema(old), rows: 200)
        let nulls = before.entities["Person"]?.filter { $0.value["name"] == .value(.null) }.keys.sorted() ?? []
        #expect(!nulls.isEmpty)
        let stack = try DataStack(Schema("S", Person.self, Address.self), logger: SilentLogger())
        let report = try await stack.rehearseMigration(of: store, migrating: .lightweight)
        #expect(report.findings.first?.count == nulls.count)
        #expect(report.findings.first?.rowIDs == Array(nulls.prefix(20)))
        let error = await #expect(throws: StoreError.self) { try await stack.addStore(store, migrating: .lightweight) }
        #expect(error?.code == .constraint)
        #expect(error?.rowID == nulls.first)
        #expect(try store.contents(ResolvedSchema(old)).differences(from: before) == [])
    }

    @Test("values that must be unique and are not", arguments: Backend.persistent)
    func duplicates(_ backend: Backend) async throws {
        try await refuses(backend, .constraint, "Member.email becomes unique", kind: .duplicate) {
            $0["Member"].attribute("email") { $0.isUnique = false }
        }
    }

    @Test("a type that cannot hold every value", arguments: Backend.persistent)
    func narrowing(_ backend: Backend) async throws {
        try await refuses(backend, .incompatibleSchema, "Member.level changes from int64 to int16") {
            $0["Member"].attribute("level") { $0.type = .int64 }
        }
    }

    @Test("a relationship to many objects becomes one to one object", arguments: Backend.persistent)
    func toOne(_ backend: Backend) async throws {
        try await refuses(backend, .constraint, "Member.mentor leads to one object, and the old version relates objects to several") {
            $0["Member"].relationship("mentor") { $0.isToMany = true }
        }
    }

    @Test("an unknown version, and a version that was changed under its name")
    func unknown() async throws {
        let folder = try Folder()
        let store = Backend.sqlite.store(in: folder)
        _ = try store.fill(ResolvedSchema(earlier { $0["Member"].remove("score") }), rows: 3)
        let other = try DataStack(SchemaHistory(currentSchema, migrationChain: ["Older", "Current"]), logger: SilentLogger())
        var error = await #expect(throws: StoreError.self) { try await other.addStore(store, migrating: .chain) }
        #expect(error?.code == .incompatibleSchema)
        #expect(error?.message.contains("version \"Earlier\"") ?? false)
        #expect(error?.message.contains("newer version of the application") ?? false)
        let changed = LockedSchema("Earlier", entities: earlier { $0["Member"].remove("label") }.entities)
        let renamed = try DataStack(SchemaHistory(changed, currentSchema, migrationChain: ["Earlier", "Current"]), logger: SilentLogger())
        error = await #expect(throws: StoreError.self) { try await renamed.addStore(store, migrating: .chain) }
        #expect(error?.message.contains("the schema of that name is different") ?? false, "\(error?.message ?? "")")
        #expect(error?.message.contains("LockedSchema(\"Earlier\"") ?? false)
        // The chain passes through a version without a description.
        let through = try DataStack(SchemaHistory(currentSchema, migrationChain: ["Earlier", "Middle", "Current"]), logger: SilentLogger())
        error = await #expect(throws: StoreError.self) { try await through.addStore(store, migrating: .chain) }
        #expect(error?.message.contains("passes through version \"Middle\"") ?? false, "\(error?.message ?? "")")
    }

    @Test("stores that do not exist, and stores of the current version, need no migration", arguments: Backend.persistent)
    func none(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let stack = try DataStack(currentSchema, logger: SilentLogger())
        #expect(try stack.requiredMigrationsAndWait(for: store) == [])
        #expect(try await stack.upgradeStoreIfNeeded(store).steps.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: store.location))
        try await stack.addStore(store, migrating: .lightweight)
        #expect(try stack.requiredMigrationsAndWait(for: store) == [])
        #expect(try stack.requiredMigrationsAndWait(for: .inMemory()) == [])
    }
}

@Model
final class Person {
    @Attribute var name: String
    var first: String = ""
    var last: String = ""
    var salary: Int?
    @Relationship(inverse: "people") var address: Address?
    @Relationship(inverse: "friends") var friends: Set<Person>
}

@Model
final class Address {
    var street: String = ""
    @Relationship var people: Set<Person>
}
