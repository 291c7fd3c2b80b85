import ConversionTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestSupport
import Testing

/// Converted stores as applications see them.
@Suite struct ConversionObjectTests {
    /// Returns a store with objects and history that the object layer has written.
    private func company(_ place: Place, in folder: Folder) throws -> StoreConfiguration {
        let store = try place.store(in: folder, "source")
        try SampleStore.open(store).close()
        let stack = try DataStack(opening: store, forWriting: true, history: HistoryOptions(), logger: RecordingLogger())
        for number in 0..<5 {
            try stack.performAndWait { transaction in
                let team = try transaction.create("Team", ["name": .text("team \(number)")])
                for member in 0..<4 {
                    let person = try transaction.create("Person", ["name": .text("person \(number) \(member)")])
                    try person.set("team", to: team)
                }
                _ = try transaction.create("Dog", ["name": .text("dog \(number)"), "legs": 4])
            }
        }
        try stack.performAndWait { try $0.deleteAll(EntityQuery("Team").where("name == 'team 3'")) }
        return store
    }

    @Test(arguments: Pair.some) func idsAndTokensOfTheSourceAreThoseOfTheTarget(_ pair: Pair) async throws {
        let folder = try Folder()
        let source = try company(pair.source, in: folder)
        let before = try DataStack(opening: source, logger: RecordingLogger())
        let token = try await before.history().token
        let middle = try await before.history(limit: 3).token
        let uris = try before.readAndWait { try $0.fetchObjectIDs(EntityQuery("Person").orderBy("name")).map { "\($0.uri)" } }
        let rest = try await before.history(since: middle).count
        let target = try pair.target.store(in: folder, "target")
        let report = try conversion(source, target).runAndWait()
        #expect(report.target.history.count == 6)
        let after = try DataStack(opening: target, forWriting: true, history: HistoryOptions(), logger: RecordingLogger())
        #expect(try await after.stores[0].verify() == [])
        #expect(try after.readAndWait { try $0.fetchObjectIDs(EntityQuery("Person").orderBy("name")).map { "\($0.uri)" } } == uris)
        #expect(try await after.history(since: middle).count == rest)
        #expect(try await after.history(since: token).count == 0)
        try after.performAndWait { _ = try $0.create("Team", ["name": "later"]) }
        let later = try await after.history(since: token)
        #expect(later.count == 1)
        #expect(later.first?.followsUnrecordedCommits == false)
        #expect(try after.readAndWait { try $0.fetchOne(EntityQuery("Dog"))?.entityName } == "Dog")
    }

    @Test func storeInMemoryIsReadFromAStackAndAddedToOne() throws {
        let folder = try Folder()
        let stack = try DataStack(opening: company(.sqlite, in: folder), logger: RecordingLogger())
        var toMemory = StoreConversion(from: stack.stores[0], to: .inMemory())
        toMemory.logger = RecordingLogger()
        let report = try toMemory.runAndWait()
        let opened = try SampleStore.open(report.configuration)
        let back = try StoreConversion(from: opened, to: Place.lmdb.store(in: folder, "back")).runAndWait()
        #expect(back.target == report.source)
    }
}
