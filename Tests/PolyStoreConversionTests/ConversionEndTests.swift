import ConversionTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreCore
import PostgreSQLServer
import TestSupport
import Testing

/// The time between the last commit of a conversion and its report.
@Suite struct ConversionEndTests {
    private static let places = [Place.sqlite, .lmdb, .levelDB]

    /// Converts, and puts the lock file back, as if the process had been killed before it was removed.
    /// - Returns: The lock file.
    private func convertWithoutEnd(_ source: StoreConfiguration, _ target: StoreConfiguration) throws -> URL {
        let lock = URL(fileURLWithPath: target.location + ".conversion")
        var text: Data?
        _ = try conversion(source, target).runAndWait { progress in
            if progress.activity == .verifying { text = try Data(contentsOf: lock) }
        }
        try #require(text).write(to: lock)
        return lock
    }

    @Test(arguments: places, [0, 30]) func completeTargetWhoseConversionWasKilledIsASuccess(_ place: Place, _ people: Int) throws {
        let folder = try Folder()
        let (source, target) = (try Place.sqlite.filled(in: folder, people: people), try place.store(in: folder, "target"))
        for startsOver in [false, true] {
            let lock =
                startsOver
                ? try convertWithoutEnd(source, place.store(in: folder, "other")) : try convertWithoutEnd(source, target)
            let store = startsOver ? try place.store(in: folder, "other") : target
            var again = try conversion(source, store)
            again.startsOver = startsOver
            let report = try again.runAndWait()
            #expect(report.isResumed)
            #expect(try report.target == StoreDigest(of: source, logger: RecordingLogger()))
            #expect(!folder.names.contains(lock.lastPathComponent))
            // From now on it is a store like any other.
            let error = try requireFailure { _ = try again.runAndWait() }
            #expect(error.message.contains("exists already"))
        }
    }

    @Test(arguments: places) func completeTargetThatIsNotTheSourceIsNotASuccess(_ place: Place) throws {
        let folder = try Folder()
        let (source, target) = (try Place.sqlite.filled(in: folder, people: 3), try place.store(in: folder, "target"))
        let lock = try convertWithoutEnd(source, target)
        let open = try SampleStore.open(target)
        let schema = try ResolvedSchema(SampleSchema.description)
        let changes = ChangeSet(schema)
        try changes.insert(#require(schema.entity(named: "Empty")), rowID: 99) { $0.setText(0, "new") }
        let writer = try open.beginWrite()
        try writer.apply(changes)
        _ = try writer.commit(.relaxed)
        try open.close()
        try expectTaken(target, by: source)
        #expect(!folder.names.contains(lock.lastPathComponent))
    }

    @Test(arguments: places) func targetThatCannotBeClosedIsComplete(_ place: Place) throws {
        let folder = try Folder()
        let (source, target) = (try Place.sqlite.filled(in: folder, people: 3), try place.store(in: folder, "target"))
        let logger = RecordingLogger()
        var conversion = try conversion(source, target.outer(.cannotBeClosed))
        conversion.logger = logger
        let report = try conversion.runAndWait()
        #expect(try report.target == StoreDigest(of: target, logger: RecordingLogger()))
        #expect(folder.names.allSatisfy { !$0.hasSuffix(".conversion") })
        #expect(logger.entries.contains { $0.message.contains("is complete") })
    }
}
