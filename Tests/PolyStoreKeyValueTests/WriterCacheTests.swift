import EngineTestSupport
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreKeyValue

/// The state that a writer caches for the next one must agree with the store.
@Suite struct WriterCacheTests {
    private func insert(_ ids: ClosedRange<Int64>, _ opened: Opened, commits: Bool = true) throws {
        let transaction = try opened.backend.beginWrite()
        defer { transaction.rollback() }
        let changes = Changes(opened.store.schema)
        for id in ids { try changes.insert("Person", id, Company.person(id)) }
        // The teams that people refer to.
        if ids.contains(1) { for id in Int64(1)...2 { try changes.insert("Team", id, ["title": .text("team")]) } }
        try transaction.apply(changes.set)
        if commits { _ = try transaction.commit(.full) }
    }

    private func expect(_ opened: Opened, version: UInt64, people: Int) throws {
        let person = try opened.store.entity("Person")
        for store in [opened.store, try Opened(opened.engine).store] {
            try store.read { transaction in
                #expect(try transaction.version == version)
                let count = try transaction.count(FetchRequest(person))
                #expect(count == people)
            }
            let findings = try store.backend.verify()
            #expect(findings == [])
        }
        let writer = try opened.backend.beginWrite()
        #expect(try writer.version == version)
        let count = try writer.count(FetchRequest(person))
        #expect(count == people)
        writer.rollback()
    }

    @Test func rollbackDoesNotChangeTheCache() throws {
        let opened = try Opened()
        try insert(1...3, opened)
        try insert(4...9, opened, commits: false)
        try expect(opened, version: 1, people: 3)
        try insert(4...4, opened)
        try insert(5...5, opened)
        try expect(opened, version: 3, people: 5)
    }

    @Test func failedCommitDoesNotChangeTheCache() throws {
        let opened = try Opened()
        try insert(1...3, opened)
        opened.engine.fail(after: 0)
        #expect(throws: StoreError.self) { try insert(4...9, opened) }
        opened.engine.fail(after: nil)
        try expect(opened, version: 1, people: 3)
        try insert(4...4, opened)
        try expect(opened, version: 2, people: 4)
    }

    /// A writer that began after a failed index build must not assume that the index is complete.
    @Test func nextWriterKnowsTheStateOfAnIndex() throws {
        let opened = try Opened()
        try insert(1...4500, opened)
        try insert(4501...4501, opened)
        // One batch of the index is built, and the second commit of the build fails.
        opened.engine.fail(after: 2)
        #expect(throws: StoreError.self) { try opened.backend.rebuildIndexes(["Person_email"]) }
        opened.engine.fail(after: nil)
        let state = try opened.state("Person_email")
        #expect(state?.phase == .writeOnly)
        let error = failure {
            let transaction = try opened.backend.beginWrite()
            defer { transaction.rollback() }
            let changes = Changes(opened.store.schema)
            try changes.insert("Person", 5000, ["email": .text("4400@example.com")])
            try transaction.apply(changes.set)
        }
        #expect(error?.code == .constraint)
        try opened.backend.rebuildIndexes(["Person_email"])
        try insert(4502...4502, opened)
        try expect(opened, version: 3, people: 4502)
    }
}
