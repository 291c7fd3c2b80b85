import EngineTestSupport
import Foundation
import PolyStore
import TestSupport
import Testing

/// The version that the other process has, `Plain` of `TestModels`.
private enum Held1 {
    @Model
    final class Plain {
        var number: Int = 0
    }

    static let schema = Schema("Held 1", Plain.self)
}

private enum Held2 {
    @Model
    final class Plain {
        var number: Int = 0
        var note: String?
    }

    static let schema = Schema("Held 2", Plain.self)
}

/// Another process has a store open while this one migrates it.
@Suite
struct OtherProcessTests {
    /// - Parameter isRewritten: Whether the migration reads and writes each object, so that the record layer gives the entity another number.
    @Test(
        "another process that has the store open gets an error after a migration, and loses no commit after one there and back",
        arguments: Backend.shared, [false, true])
    func isTold(_ backend: Backend, _ isRewritten: Bool) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let other = try Child(program: "migration-child", "hold", backend.rawValue, store.location)
        defer { other.kill() }
        #expect(other.line() == "open")
        #expect(try other.answer(to: "add 1") == "added")
        let mappings =
            isRewritten ? [SchemaMapping(from: "Held 1", to: "Held 2", [.update("Plain") { _, new in new["note"] = "kept" }])] : []
        let later = try DataStack(SchemaHistory(Held1.schema.locked, Held2.schema, mappings: mappings), logger: SilentLogger())
        func forward() async throws { try await later.upgradeStoreIfNeeded(store, migrating: isRewritten ? .chain : .lightweight) }
        func back() async throws {
            try await DataStack(Held1.schema, logger: SilentLogger()).upgradeStoreIfNeeded(
                store, migrating: .lightweight(allowsDowngrade: true))
        }
        try await forward()
        #expect(try other.answer(to: "add 2") == "differentStoreAtURL")
        #expect(try other.answer(to: "read") == "differentStoreAtURL")
        try await back()
        // The store has the schema of the other process again, in other numbers and layouts.
        let late = try other.answer(to: "add 3")
        #expect(late == "added" || late == "differentStoreAtURL", "\(late ?? "")")
        let expected = late == "added" ? [1, 3] : [1]
        let read = try other.answer(to: "read")
        #expect(read == "\(expected)" || read == "differentStoreAtURL", "\(read ?? "")")
        #expect(try other.answer(to: "reopen") == "open")
        #expect(try other.answer(to: "read") == "\(expected)")
        #expect(try other.answer(to: "add 4") == "added")
        try await forward()
        #expect(try other.answer(to: "add 5") == "differentStoreAtURL")
        #expect(try other.answer(to: "reopen") == "migrationRequired")
        try later.addStore(store)
        #expect(try await later.read { try $0.fetchAll(From<Held2.Plain>()).map(\.number).sorted() } == expected + [4])
        #expect(try later.stores[0].verifyAndWait() == [])
        try await later.close()
    }
}
