import Foundation
import PolyStore
import PolyStoreMemory
import Testing

/// Lists of several stores, with one store added while the lists are observed.
@Suite struct LateStoreTests {
    @Test func aStoreThatIsAddedLaterJoinsTheListAndTheResultsOfQueries() async throws {
        let models: [any Model.Type] = [Worker.self, Team.self]
        let stack = try DataStack(Schema("Observe", models, configurations: ["Archive": models]))
        try stack.addStore(.inMemory())
        @Sendable func insert(_ name: String, _ configuration: String?) throws {
            try stack.performAndWait { transaction throws in try transaction.create(Into<Worker>(configuration)).name = name }
        }
        try insert("B", nil)
        var updates = CheckedUpdates(stack.changes(of: From<Worker>().orderBy(.ascending(\.name))))
        _ = try await updates.next()
        #expect(updates.snapshot?.map(\.name) == ["B"])
        var counts = stack.values(of: From<Worker>(), .count).makeAsyncIterator()
        #expect(try await counts.next() == 1)
        try stack.addStore(.inMemory(), configuration: "Archive")
        try insert("A", "Archive")
        while updates.snapshot?.count != 2 { #expect(try await updates.next() != nil) }
        #expect(updates.snapshot?.map(\.name) == ["A", "B"])
        try insert("C", "Archive")
        while updates.snapshot?.count != 3 { #expect(try await updates.next() != nil) }
        let ids = try #require(updates.snapshot?.objectIDs)
        #expect(ids.map(\.configuration) == ["Archive", nil, "Archive"])
        #expect(updates.snapshot?.index(of: ids[2]) == 2)
        var count = 1
        while count != 3 { count = try #require(try await counts.next()) }
    }
}
