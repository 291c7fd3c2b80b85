import ConversionTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestSupport
import Testing

/// Conversions that end early, and those that continue them.
@Suite struct ConversionResumeTests {
    struct Stop: Error {}

    /// Leaves a target with what was copied up to a report of the progress.
    /// - Returns: Whether the conversion was interrupted.
    private func stop(_ source: StoreConfiguration, _ target: StoreConfiguration, at report: Int) throws -> Bool {
        var count = 0
        do {
            _ = try conversion(source, target).runAndWait { _ in
                count += 1
                if count == report { throw Stop() }
            }
            return false
        } catch is Stop { return true }
    }

    @Test(arguments: Pair.some) func interruptedConversionIsContinuedWhereverItEnded(_ pair: Pair) throws {
        let folder = try Folder()
        let (source, target) = (try pair.source.filled(in: folder, people: 30), try pair.target.store(in: folder, "target"))
        let expected = try StoreDigest(of: source, logger: RecordingLogger())
        // Every run ends one report later.
        var at = 1
        while try stop(source, target, at: at) { at += 1 }
        #expect(at > 10)
        #expect(try StoreDigest(of: target, logger: RecordingLogger()) == expected)
        #expect(folder.names.allSatisfy { !$0.hasSuffix(".conversion") })
    }

    @Test(arguments: Place.persistent) func changedSourceIsNotMixedWithWhatWasCopied(_ place: Place) throws {
        let folder = try Folder()
        let (source, target) = (try Place.lmdb.filled(in: folder, people: 20), try place.store(in: folder, "target"))
        try ConversionRefusalTests.interrupt(source, target)
        try write(source) { changes, entity in try changes.insert(entity, rowID: 99) { $0.setText(0, "new") } }
        let error = try requireFailure { _ = try conversion(source, target).runAndWait() }
        #expect(error.code == .conflict)
        #expect(error.message.contains("Start over"))
        var over = try conversion(source, target)
        over.startsOver = true
        let report = try over.runAndWait()
        #expect(!report.isResumed)
        #expect(try report.target == StoreDigest(of: source, logger: RecordingLogger()))
    }

    @Test func incompleteTargetOfAnotherStoreIsNotContinued() throws {
        let folder = try Folder()
        let target = try Place.sqlite.store(in: folder, "target")
        try ConversionRefusalTests.interrupt(Place.sqlite.filled(in: folder, people: 2), target)
        let other = try Place.lmdb.filled(in: folder, "other", people: 2)
        expectError(.conflict) { try conversion(other, target).runAndWait() }
        var over = try conversion(other, target)
        over.startsOver = true
        #expect(try over.runAndWait().target == StoreDigest(of: other, logger: RecordingLogger()))
    }

    /// A store that was restored from a backup and then changed otherwise has the same id and the same version.
    @Test func sourceThatDiffersAtTheSameVersionIsNotContinued() throws {
        let folder = try Folder()
        let (source, target) = (try Place.sqlite.filled(in: folder, people: 2), try Place.lmdb.store(in: folder, "target"))
        let copy = try Place.sqlite.store(in: folder, "copy")
        let backend = try SampleStore.open(source)
        try backend.copy(to: copy.location)
        try backend.close()
        try write(source) { changes, entity in try changes.insert(entity, rowID: 99) { $0.setText(0, "one") } }
        try write(copy) { changes, entity in try changes.insert(entity, rowID: 99) { $0.setText(0, "two") } }
        try ConversionRefusalTests.interrupt(source, target)
        let error = try requireFailure { _ = try conversion(copy, target).runAndWait() }
        #expect(error.code == .conflict)
        #expect(try conversion(source, target).runAndWait().isResumed)
    }

    @Test(arguments: Place.persistent) func sourceIsReadInOneSnapshotWhileAProgramWrites(_ place: Place) throws {
        let folder = try Folder()
        let source = try place.filled(in: folder, people: 40)
        let expected = try StoreDigest(of: source, logger: RecordingLogger())
        let open = try SampleStore.open(source)
        var rowID: Int64 = 1000
        for target in Place.persistent {
            let before = try StoreDigest(of: open)
            let report = try conversion(source, target.store(in: folder, "to \(target)")).runAndWait { _ in
                rowID += 1
                try Self.write(open) { changes, entity in try changes.insert(entity, rowID: rowID) { $0.setText(0, "\(rowID)") } }
            }
            #expect(report.target == before)
            #expect(report.objectCount < (try StoreDigest(of: open).objectCount))
        }
        #expect(try StoreDigest(of: open) != expected)
        try open.close()
    }

    @Test func cancelledConversionIsContinued() async throws {
        let folder = try Folder()
        let (source, target) = (try Place.sqlite.filled(in: folder, people: 3000), try Place.lmdb.store(in: folder, "target"))
        let run = try conversion(source, target).start()
        run.cancel()
        let error = await #expect(throws: StoreError.self) { try await run.value }
        #expect(error?.code == .cancelled)
        let report = try await try conversion(source, target).run()
        #expect(report.target == report.source)
        #expect(report.objectCount > 3000)
    }

    private func write(_ store: StoreConfiguration, _ body: (ChangeSet, Entity) throws -> Void) throws {
        let backend = try SampleStore.open(store)
        try Self.write(backend, body)
        try backend.close()
    }

    private static func write(_ backend: any StorageBackend, _ body: (ChangeSet, Entity) throws -> Void) throws {
        let schema = try ResolvedSchema(SampleSchema.description)
        let changes = ChangeSet(schema)
        try body(changes, #require(schema.entity(named: "Empty")))
        let writer = try backend.beginWrite()
        try writer.apply(changes)
        _ = try writer.commit(.relaxed)
    }
}
