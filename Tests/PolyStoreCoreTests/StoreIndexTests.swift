import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Indexes of a store that are built again.
@Suite struct StoreIndexTests {
    @Test(arguments: Backend.allCases)
    @MainActor func indexesOfAStoreAreBuiltAgain(_ backend: Backend) async throws {
        let company = try Company(backend, expectsSilence: false)
        try company.people(50)
        let store = company.stack.stores[0]
        let names = store.schema.entities.flatMap { $0.indexes.map(\.name) }.sorted()
        try #require(!names.isEmpty)
        let version = try store.statisticsAndWait().version
        try await store.rebuildIndexes()
        try store.rebuildIndexesAndWait([names[0]])
        expectError(.notFound) { try store.rebuildIndexesAndWait([names[0], "Nobody_name"]) }
        #expect(try store.verifyAndWait() == [])
        #expect(try store.statisticsAndWait().version == version)
        try company.stack.performAndWait { _ = try $0.deleteAll(From<Person>(), Where(\.age > 10)) }
        #expect(try store.verifyAndWait() == [])
    }

    @Test func backendThatCannotBuildIndexesAgainSaysSo() throws {
        let stack = try DataStack(companySchema)
        let store = try stack.addStore(.simulatedServer(SimulatedServer()))
        expectError(.unsupported) { try store.rebuildIndexesAndWait() }
    }
}
