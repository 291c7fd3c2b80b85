import ConversionTestSupport
import EngineTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreMemory
import PolyStoreSQLite
import PostgreSQLServer
import TestSupport
import Testing

/// What a conversion refuses, and that it leaves unchanged what it refuses.
@Suite struct ConversionRefusalTests {
    /// Ends a conversion after some reports of the progress.
    struct Stop: Error {}

    /// Leaves an incomplete target: the conversion ends while it verifies.
    static func interrupt(_ source: StoreConfiguration, _ target: StoreConfiguration) throws {
        #expect(throws: Stop.self) {
            try conversion(source, target).runAndWait { progress in if progress.activity == .verifying { throw Stop() } }
        }
    }

    @Test(arguments: Place.persistent) func existingStoreIsNotOverwritten(_ place: Place) throws {
        let folder = try Folder()
        let (source, target) = (try Place.sqlite.filled(in: folder, people: 3), try place.filled(in: folder, "target", people: 5))
        try expectTaken(target, by: source)
        #expect(folder.names.allSatisfy { !$0.hasSuffix(".conversion") })
    }

    @Test(arguments: [Place.sqlite, .lmdb, .levelDB]) func otherFilesAndFoldersAreNotOverwritten(_ place: Place) throws {
        let folder = try Folder()
        let source = try Place.sqlite.filled(in: folder, people: 3)
        let target = try place.store(in: folder, "target")
        let path = URL(fileURLWithPath: target.location)
        for contents in [Data(), Data("a letter".utf8), Data(repeating: 7, count: 100_000)] {
            try contents.write(to: path)
            expectError(.io) { try conversion(source, target).runAndWait() }
            #expect(try Data(contentsOf: path) == contents)
        }
        try FileManager.default.removeItem(at: path)
        try FileManager.default.createDirectory(at: path, withIntermediateDirectories: false)
        expectError(.io) { try conversion(source, target).runAndWait() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path.path) == [])
    }

    @Test(arguments: Place.persistent) func missingSourceIsRefusedAndNothingIsCreated(_ place: Place) throws {
        let folder = try Folder()
        let source = try place.store(in: folder, "source")
        #expect(throws: StoreError.self) { try conversion(source, Place.sqlite.store(in: folder, "target")).runAndWait() }
        #expect(folder.names == [])
    }

    @Test func storeIsNotConvertedToItself() throws {
        let folder = try Folder()
        let source = try Place.lmdb.filled(in: folder, people: 3)
        expectError(.io) { try conversion(source, source).runAndWait() }
        #expect(try StoreDigest(of: source, logger: RecordingLogger()).objectCount > 3)
    }

    @Test func missingFolderIsRefused() throws {
        let folder = try Folder()
        let source = try Place.sqlite.filled(in: folder, people: 3)
        for place in [Place.sqlite, .lmdb, .levelDB] {
            let target = try StoreEngines.all.configuration(place.url(in: folder, "none/there"))
            expectError(.io) { try conversion(source, target).runAndWait() }
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("none")))
    }

    @Test(arguments: Place.persistent) func incompleteTargetIsRefusedByEveryOpening(_ place: Place) throws {
        let folder = try Folder()
        let (source, target) = (try Place.sqlite.filled(in: folder, people: 20), try place.store(in: folder, "target"))
        try Self.interrupt(source, target)
        func expectIncomplete(_ body: () throws -> Void) throws {
            let error = try requireFailure(body)
            #expect(error.code == .differentStoreAtURL)
            #expect(error.message.contains("incomplete target of a conversion"))
        }
        try expectIncomplete { _ = try SampleStore.open(target) }
        try expectIncomplete { _ = try SampleStore.open(target, configurationName: "polystore.conversion") }
        if place != .levelDB { try expectIncomplete { _ = try SampleStore.open(target.readOnly()) } }
        try expectIncomplete { _ = try DataStack(opening: target, logger: RecordingLogger()) }
        try expectIncomplete { _ = try StoreDigest(of: target, logger: RecordingLogger()) }
        try expectIncomplete { _ = try conversion(target, Place.sqlite.store(in: folder, "copy")).runAndWait() }
        // The schema that is refused is another one.
        try expectIncomplete {
            _ = try target.open(
                schema: ResolvedSchema(SchemaDescription(name: "", entities: [])), configurationName: nil, logger: RecordingLogger())
        }
        let report = try conversion(source, target).runAndWait()
        #expect(report.isResumed)
        try SampleStore.open(target).close()
    }

    @Test(arguments: Place.persistent) func secondConversionToTheSameTargetIsRefused(_ place: Place) throws {
        let folder = try Folder()
        let (source, target) = (try Place.sqlite.filled(in: folder, people: 20), try place.store(in: folder, "target"))
        var refused = 0
        let report = try conversion(source, target).runAndWait { _ in
            for startsOver in [false, true] {
                var second = try conversion(source, target)
                second.startsOver = startsOver
                if failure({ _ = try second.runAndWait() })?.code == .busy { refused += 1 }
            }
        }
        #expect(refused > 10)
        #expect(report.source == report.target)
    }

    @Test func storeOfAnEngineOfOneProcessThatAnotherProcessHasOpenIsRefused() throws {
        let folder = try Folder()
        let source = try Place.levelDB.filled(in: folder, people: 3)
        let open = try SampleStore.open(source)
        let child = try Child(program: "conversion-child", "leveldb:\(source.location)", "sqlite:\(folder.file("target"))", "0", "0")
        #expect(child.line() == "ready")
        try child.goOn()
        let line = try #require(child.line())
        #expect(line.hasPrefix("refused: busy"))
        #expect(line.contains("one process at a time"))
        _ = child.wait()
        #expect(!FileManager.default.fileExists(atPath: folder.file("target")))
        // The process that has it open can convert it.
        let report = try conversion(source, Place.sqlite.store(in: folder, "own")).runAndWait()
        #expect(report.objectCount > 3)
        try open.close()
    }

    @Test func memoryIsGivenAsAnOpenStore() throws {
        let folder = try Folder()
        let error = try requireFailure {
            _ = try StoreConversion(from: .inMemory(), to: Place.sqlite.store(in: folder, "target")).runAndWait()
        }
        #expect(error.code == .misuse)
        #expect(folder.names == [])
    }
}
