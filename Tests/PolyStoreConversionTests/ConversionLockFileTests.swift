import ConversionTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestSupport
import Testing

/// The file beside the target of a conversion.
@Suite struct ConversionLockFileTests {
    private static let places = [Place.sqlite, .lmdb, .levelDB]

    /// Returns the bytes of the lock file of an interrupted conversion.
    private func text() throws -> Data {
        let folder = try Folder()
        let target = try Place.sqlite.store(in: folder, "target")
        try ConversionRefusalTests.interrupt(Place.sqlite.filled(in: folder, people: 2), target)
        return try Data(contentsOf: URL(fileURLWithPath: target.location + ".conversion"))
    }

    @Test(arguments: places) func fileOfSomebodyElseStaysAsItIs(_ place: Place) throws {
        let folder = try Folder()
        let source = try Place.sqlite.filled(in: folder, people: 3)
        let target = try place.store(in: folder, "target")
        let (path, lock) = (URL(fileURLWithPath: target.location), URL(fileURLWithPath: target.location + ".conversion"))
        let all = try text()
        for contents in [Data(), Data("a note".utf8), all.dropLast(1), all + Data("\n".utf8), Data(repeating: 7, count: 100_000)] {
            try contents.write(to: lock)
            for hasTarget in [false, true] {
                if hasTarget { try Data().write(to: path) }
                for startsOver in [false, true] {
                    var conversion = try conversion(source, target)
                    conversion.startsOver = startsOver
                    let error = try requireFailure { _ = try conversion.runAndWait() }
                    #expect(error.code == .io)
                    #expect(error.message.contains(".conversion exists"))
                }
                #expect(try Data(contentsOf: lock) == contents)
                #expect(FileManager.default.fileExists(atPath: path.path) == hasTarget)
            }
            try FileManager.default.removeItem(at: path)
        }
        try FileManager.default.removeItem(at: lock)
        try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
        expectError(.io) { try conversion(source, target).runAndWait() }
        #expect(folder.names.contains(lock.lastPathComponent))
        #expect(!folder.names.contains(path.lastPathComponent))
    }

    /// The conversion before was killed after it had locked the location, and before it created anything.
    @Test(arguments: places) func lockFileAloneLetsNothingBeOverwritten(_ place: Place) throws {
        let folder = try Folder()
        let source = try Place.sqlite.filled(in: folder, people: 3)
        let target = try place.store(in: folder, "target")
        let (path, lock) = (URL(fileURLWithPath: target.location), URL(fileURLWithPath: target.location + ".conversion"))
        let mark = try text()
        let first = try #require(mark.firstIndex(of: UInt8(ascii: "\n")))
        for isFolder in [false, true] {
            try mark[...first].write(to: lock)
            if isFolder {
                try FileManager.default.createDirectory(at: path, withIntermediateDirectories: false)
            } else {
                try Data().write(to: path)
            }
            let error = try requireFailure { _ = try conversion(source, target).runAndWait() }
            #expect(error.message.contains("exists already"))
            #expect(folder.names.filter { $0.hasPrefix("target") } == [path.lastPathComponent])
            if isFolder {
                #expect(try FileManager.default.contentsOfDirectory(atPath: path.path) == [])
            } else {
                #expect(try Data(contentsOf: path) == Data())
            }
            try FileManager.default.removeItem(at: path)
        }
        try mark[...first].write(to: lock)
        #expect(try conversion(source, target).runAndWait().objectCount > 3)
        #expect(folder.names.allSatisfy { !$0.hasSuffix(".conversion") })
    }

    /// The conversion before was killed while the engine created the store.
    @Test func emptyTargetThatAConversionHasBegunIsContinued() throws {
        let folder = try Folder()
        let source = try Place.lmdb.filled(in: folder, people: 3)
        let text = try text()
        for place in Self.places {
            let target = try place.store(in: folder, "target")
            let path = URL(fileURLWithPath: target.location)
            try text.write(to: URL(fileURLWithPath: target.location + ".conversion"))
            if place == .levelDB {
                try FileManager.default.createDirectory(at: path, withIntermediateDirectories: false)
            } else {
                try Data().write(to: path)
            }
            #expect(try conversion(source, target).runAndWait().objectCount > 3)
            #expect(folder.names.allSatisfy { !$0.hasSuffix(".conversion") })
        }
    }

    @Test(arguments: places) func missingFolderIsCreatedIfAsked(_ place: Place) throws {
        let folder = try Folder()
        let source = try Place.sqlite.filled(in: folder, people: 3)
        let target = try StoreEngines.all.configuration(place.url(in: folder, "none/there"))
        let error = try requireFailure { _ = try conversion(source, target).runAndWait() }
        #expect(error.code == .io)
        #expect(error.message.contains(".creatingFolder()"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("none")))
        let report = try conversion(source, target.creatingFolder()).runAndWait()
        #expect(try report.target == StoreDigest(of: target, logger: RecordingLogger()))
        #expect(Folder(path: folder.file("none")).names.allSatisfy { !$0.hasSuffix(".conversion") })
        withExtendedLifetime(folder) {}
    }

    /// A backend of another package cannot continue the history of another store, which is known when the store is open.
    @Test(arguments: places) func backendThatCannotBeATargetLeavesNothing(_ place: Place) throws {
        let folder = try Folder()
        let source = try Place.sqlite.filled(in: folder, people: 3)
        let target = try place.store(in: folder, "target")
        let error = try requireFailure { _ = try conversion(source, target.outer(.restoresNothing)).runAndWait() }
        #expect(error.code == .unsupported)
        #expect(!error.message.contains("by hand"))
        #expect(folder.names.allSatisfy { !$0.hasPrefix("target") })
        // A store whose backend does not name its files cannot be deleted.
        let unnamed = try requireFailure { _ = try conversion(source, target.outer(.restoresNothing, erases: false)).runAndWait() }
        #expect(unnamed.code == .unsupported)
        #expect(unnamed.message.contains("by hand"))
        #expect(folder.names.allSatisfy { !$0.hasSuffix(".conversion") })
    }
}
