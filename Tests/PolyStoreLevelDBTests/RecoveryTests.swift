import CRecordBytes
import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreKeyValue
@testable import PolyStoreLevelDB

/// Opening files that a crash, a power failure or damage has left.
@Suite struct RecoveryTests {
    /// Copies the folder of an open store: the state that a killed process leaves.
    private static func image(_ folder: Folder, of count: Int64, _ durability: Durability = .full, buffer: Int = 16 << 20) throws -> String
    {
        let store = try notes(folder.file("open")) { $0.writeBufferSize = buffer }
        defer { try? store.backend.close() }
        for id in 1...count { try store.addNotes(id...id, size: 300, durability) }
        // Background compactions must not change the folder while it is copied: none runs without reads or writes.
        let copy = folder.file("image")
        while true {
            try? FileManager.default.removeItem(atPath: copy)
            let before = try contents(folder.file("open"))
            if (try? FileManager.default.copyItem(atPath: folder.file("open"), toPath: copy)) != nil,
                try contents(folder.file("open")) == before, try contents(copy) == before
            {
                return copy
            }
        }
    }

    private static func contents(_ path: String) throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            contents[name] = try? Data(contentsOf: URL(fileURLWithPath: path + "/" + name))
        }
        return contents
    }

    private static func copy(_ image: String, _ folder: Folder) throws -> String {
        let copy = folder.file("copy")
        try? FileManager.default.removeItem(atPath: copy)
        try FileManager.default.copyItem(atPath: image, toPath: copy)
        return copy
    }

    private static func files(_ path: String, _ suffix: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(suffix) || $0.hasPrefix(suffix) }.sorted()
    }

    private static func change(_ path: String, _ body: (inout Data) -> Void) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        body(&bytes)
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    /// Returns the notes in a store, or the error of opening it. A store that opens is consistent.
    private static func open(_ path: String, repairs: Bool = false) throws -> Result<[Int64], StoreError> {
        do {
            let store = try notes(path) { $0.repairsLog = repairs }
            defer { try? store.backend.close() }
            #expect(try store.backend.verify() == [])
            return .success(try store.wholeNotes())
        } catch let error as StoreError {
            return .failure(error)
        }
    }

    private static func mark(_ path: String) throws -> LevelDBMark? {
        let descriptor = Foundation.open(path + "/" + LevelDBFolder.lockName, O_RDONLY)
        defer { Foundation.close(descriptor) }
        return LevelDBMark.read(descriptor)
    }

    // MARK: The MANIFEST

    @Test func aShortenedManifestIsCorruptOrLosesNothing() throws {
        let folder = try Folder()
        let image = try Self.image(folder, of: 400, buffer: 64 << 10)
        let name = try #require(try Self.files(image, "MANIFEST-").last)
        let size = try Data(contentsOf: URL(fileURLWithPath: image + "/" + name)).count
        var refused = 0
        for cut in stride(from: 0, to: size, by: max(1, size / 60)) {
            let copy = try Self.copy(image, folder)
            try Self.change(copy + "/" + name) { $0 = $0.prefix(cut) }
            switch try Self.open(copy) {
            case .success(let ids): #expect(ids == Array(1...400), "cut to \(cut) of \(size) bytes")
            case .failure(let error):
                #expect(error.code == .corrupt, "\(error)")
                #expect(error.location == copy)
                refused += 1
            }
        }
        #expect(refused > 0)
    }

    @Test func aFlippedBitInTheManifestIsCorruptOrLosesNothing() throws {
        let folder = try Folder()
        let image = try Self.image(folder, of: 400, buffer: 64 << 10)
        let name = try #require(try Self.files(image, "MANIFEST-").last)
        let size = try Data(contentsOf: URL(fileURLWithPath: image + "/" + name)).count
        for position in stride(from: 0, to: size, by: max(1, size / 60)) {
            let copy = try Self.copy(image, folder)
            try Self.change(copy + "/" + name) { $0[position] ^= 4 }
            switch try Self.open(copy) {
            case .success(let ids): #expect(ids == Array(1...400), "byte \(position)")
            case .failure(let error): #expect(error.code == .corrupt, "\(error)")
            }
        }
    }

    /// An edit that was being written during a power failure: truncated, zeros, or sectors in any order.
    @Test func unfinishedManifestEditIsTruncated() throws {
        let folder = try Folder()
        let image = try Self.image(folder, of: 40)
        let name = try #require(try Self.files(image, "MANIFEST-").last)
        for tail in Self.tornTails {
            let copy = try Self.copy(image, folder)
            try Self.change(copy + "/" + name) { $0 += tail }
            #expect(try Self.open(copy).get() == Array(1...40))
        }
    }

    /// LevelDB does not sync the folder between renaming CURRENT and removing the previous MANIFEST.
    @Test func undoneRenameOfCurrentIsRepeated() throws {
        let folder = try Folder()
        let image = try Self.image(folder, of: 40)
        try Data("MANIFEST-000001\n".utf8).write(to: URL(fileURLWithPath: image + "/CURRENT"))
        #expect(try Self.open(image).get() == Array(1...40))
        try Data("MANIFEST-999999\n".utf8).write(to: URL(fileURLWithPath: image + "/CURRENT"))
        #expect(throws: StoreError.self) { try Self.open(image).get() }
    }

    /// LevelDB writes an edit before it syncs the name of the log that the edit refers to.
    @Test func manifestEditWithMissingFilesIsTruncatedIfNothingWasRemoved() throws {
        let folder = try Folder()
        let image = try Self.image(folder, of: 40)
        let name = try #require(try Self.files(image, "MANIFEST-").last)
        // Type full; log 90, no previous log, next file 91, last sequence 0x4000.
        let fragment: [UInt8] = [1, 2, 90, 9, 0, 3, 91, 4, 0x80, 0x80, 1]
        let sum = ~polystore_crc32c(0xffff_ffff, fragment, fragment.count)
        let masked = (sum >> 15 | sum << 17) &+ 0xa282_ead8
        let header = withUnsafeBytes(of: masked.littleEndian) { Array($0) } + [UInt8(fragment.count - 1), 0]
        try Self.change(image + "/" + name) { $0 += header + fragment }
        #expect(try Self.open(try Self.copy(image, folder)).get() == Array(1...40))
        // Without the log of the previous state, that state cannot be recovered either.
        let copy = try Self.copy(image, folder)
        try FileManager.default.removeItem(atPath: copy + "/" + (try #require(try Self.files(copy, ".log").last)))
        #expect(throws: StoreError.self) { try Self.open(copy).get() }
    }

    // MARK: Logs

    @Test func aLogWithoutAcknowledgedCommitsIsCorruptAndCanBeRepaired() throws {
        let folder = try Folder()
        let image = try Self.image(folder, of: 60)
        let name = try #require(try Self.files(image, ".log").last)
        let size = try Data(contentsOf: URL(fileURLWithPath: image + "/" + name)).count
        #expect(try Self.mark(image)?.size == UInt64(size))
        var repaired: Set<Int> = []
        for round in 0..<40 {
            let position = size * round / 40 + round % 3
            for cuts in [true, false] {
                let copy = try Self.copy(image, folder)
                try Self.change(copy + "/" + name) { if cuts { $0 = $0.prefix(position) } else { $0[position] ^= 0x20 } }
                switch try Self.open(copy) {
                case .success: Issue.record("Opened with a log that is damaged at byte \(position) of \(size).")
                case .failure(let error):
                    #expect(error.code == .corrupt)
                    #expect(error.message.contains(name), "\(error)")
                }
                // The log includes the creation of the store, without which nothing can be recovered.
                if position < 4000 { continue }
                let ids = try Self.open(copy, repairs: true).get()
                #expect(ids == Array((1...60).prefix(ids.count)) && ids.count < 60)
                repaired.insert(ids.count)
                #expect(try Self.open(copy).get() == ids)
                if !cuts { #expect(try Self.files(copy, ".damaged") == [name + ".damaged"]) }
            }
        }
        #expect(repaired.count > 20)
    }

    /// Torn tails of a log after the last durable byte, as a crash or a power failure leaves them.
    private static var tornTails: [Data] {
        let zeros = Data(count: 5000)
        let noise = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 5) })
        return [
            Data([1, 2, 3]), Data(count: 3), zeros, noise, Data(count: 40_000),
            // A header whose payload is missing, zero, or longer than the file.
            Data([9, 9, 9, 9, 100, 0, 1]), Data([9, 9, 9, 9, 100, 0, 1]) + zeros, Data([9, 9, 9, 9, 255, 255, 2]) + noise,
            zeros + noise,
        ]
    }

    @Test func tornEndOfTheLogIsTruncated() throws {
        let folder = try Folder()
        let image = try Self.image(folder, of: 20)
        let name = try #require(try Self.files(image, ".log").last)
        for (number, tail) in Self.tornTails.enumerated() {
            let copy = try Self.copy(image, folder)
            try Self.change(copy + "/" + name) { $0 += tail }
            let store = try notes(copy)
            #expect(try store.wholeNotes() == Array(1...20), "tail \(number)")
            try store.addNotes(21...21, size: 10, .full)
            try store.backend.close()
            #expect(try Self.open(copy).get() == Array(1...21), "tail \(number)")
        }
    }

    /// Relaxed commits become durable in any order. Recovery keeps every durable commit, and the commits before the first missing one.
    @Test func holesAfterTheLastDurableCommitEndTheLog() throws {
        let folder = try Folder()
        let store = try notes(folder.file("open"))
        for id in Int64(1)...20 { try store.addNotes(id...id, size: 300, .full) }
        let name = try #require(try Self.files(folder.file("open"), ".log").last)
        let durable = try Data(contentsOf: URL(fileURLWithPath: folder.file("open") + "/" + name)).count
        for id in Int64(21)...200 { try store.addNotes(id...id, size: 300) }
        for hole in stride(from: durable, to: durable + 60_000, by: 4096) {
            let copy = try Self.copy(folder.file("open"), folder)
            try Self.change(copy + "/" + name) { $0.replaceSubrange(hole..<hole + 512, with: Data(count: 512)) }
            let ids = try Self.open(copy).get()
            #expect(ids.count >= 20 && ids.count < 200 && ids == Array((1...200).prefix(ids.count)), "hole at \(hole)")
        }
        // Closing makes them durable.
        try store.backend.close()
        let size = try Data(contentsOf: URL(fileURLWithPath: folder.file("open") + "/" + name)).count
        #expect(try Self.mark(folder.file("open"))?.size == UInt64(size))
        try Self.change(folder.file("open") + "/" + name) { $0[size - 10] ^= 1 }
        #expect(throws: StoreError.self) { try Self.open(folder.file("open")).get() }
    }

    /// Splits the log of an image in two at a commit.
    private static func divide(_ image: String, _ log: UInt64, at boundary: Int, without removed: Int = 0) throws {
        let first = image + "/" + LevelDBFiles.log(log)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: first))
        try bytes.prefix(boundary - removed).write(to: URL(fileURLWithPath: first))
        try bytes.dropFirst(boundary).write(to: URL(fileURLWithPath: image + "/" + LevelDBFiles.log(log + 100)))
    }

    @Test func commitsMissingBetweenTwoLogsAreNoticed() throws {
        let folder = try Folder()
        // All commits are in one block, so that the log can be split between records.
        let image = try Self.image(folder, of: 20)
        let log = try #require(try LevelDBFiles(StorePath(path: image)).logs.max())
        var offsets: [Int] = []
        let file = try LevelDBLogFile(image + "/" + LevelDBFiles.log(log))
        #expect(file.size < LevelDBLogFile.blockSize)
        let end = try file.readRecords(keeping: 12) { _, _, offset in
            offsets.append(offset)
            return true
        }
        #expect(end == nil)
        let boundary = offsets[offsets.count - 5]
        let durable = LevelDBMark(log: log + 100, size: UInt64(file.size - boundary))
        func changed(_ mark: LevelDBMark?, without removed: Int) throws -> String {
            let copy = try Self.copy(image, folder)
            try Self.divide(copy, log, at: boundary, without: removed)
            let descriptor = Foundation.open(copy + "/" + LevelDBFolder.lockName, O_RDWR)
            defer { Foundation.close(descriptor) }
            if let mark { mark.write(descriptor) } else { ftruncate(descriptor, 0) }
            return copy
        }
        #expect(try Self.open(changed(durable, without: 0)).get() == Array(1...20))
        let lost = boundary - offsets[offsets.count - 6]
        for removed in [lost, lost / 2, 3] {
            for mark in [durable, nil] {
                let copy = try changed(mark, without: removed)
                guard case .failure(let error) = try Self.open(copy) else {
                    Issue.record("Opened although \(removed) bytes of the earlier log are missing.")
                    continue
                }
                #expect(error.code == .corrupt)
                #expect(try Self.open(copy, repairs: true).get() == Array(1...14))
            }
            // If the later log was not durable, its commits are lost with the missing one.
            let copy = try changed(LevelDBMark(log: log, size: UInt64(boundary - lost)), without: removed)
            #expect(try Self.open(copy).get() == Array(1...14))
        }
    }

    @Test func aMissingLogIsCorrupt() throws {
        let folder = try Folder()
        let image = try Self.image(folder, of: 20)
        let name = try #require(try Self.files(image, ".log").last)
        try FileManager.default.removeItem(atPath: image + "/" + name)
        guard case .failure(let error) = try Self.open(image) else {
            Issue.record("Opened without its log.")
            return
        }
        #expect(error.code == .corrupt && error.message.contains(name), "\(error)")
    }

    /// A `.full` commit makes every earlier commit durable, also those in earlier logs.
    @Test func theMarkFollowsTheLog() throws {
        let folder = try Folder()
        let store = try notes(folder.file()) { $0.writeBufferSize = 64 << 10 }
        var logs: Set<UInt64> = []
        for id in Int64(1)...400 {
            try store.addNotes(id...id, size: 700, id % 10 == 0 ? .full : .relaxed)
            guard id % 10 == 0 else { continue }
            let mark = try #require(try Self.mark(folder.file()))
            let newest = try #require(try LevelDBFiles(StorePath(path: folder.file())).logs.max())
            #expect(mark.log == newest)
            #expect(mark.size == UInt64(try Data(contentsOf: URL(fileURLWithPath: folder.file() + "/" + LevelDBFiles.log(newest))).count))
            logs.insert(newest)
        }
        #expect(logs.count > 2)
        try store.backend.close()
        #expect(try Self.open(folder.file()).get() == Array(1...400))
    }

    @Test func removedFilesAreNoticedAtTheNextCommit() throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        try store.addNotes(1...5, size: 100, .full)
        try FileManager.default.removeItem(atPath: folder.file())
        for durability in [Durability.relaxed, .full] {
            let error = failure { try store.addNotes(6...6, size: 100, durability) }
            #expect(error?.code == .io)
            #expect(error?.location == folder.file())
        }
    }

    // MARK: Creation

    @Test func interruptedCreationIsRepeated() throws {
        let left: [[String: Data]] = [
            ["MANIFEST-000001": Data()], ["MANIFEST-000001": Data(count: 20)],
            ["MANIFEST-000001": Data([1, 2, 3]), "000001.dbtmp": Data()],
            ["000001.dbtmp": Data("MANIFEST-000001\n".utf8)], ["MANIFEST-000001": Data(), "MANIFEST-000002": Data(), "000003.log": Data()],
            ["LOCK": Data(), "LOG": Data("x".utf8)],
        ]
        let folder = try Folder()
        for (number, files) in left.enumerated() {
            for isOurs in [true, false] {
                let path = folder.file("store \(number) \(isOurs)")
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
                for (name, bytes) in files { try bytes.write(to: URL(fileURLWithPath: path + "/" + name)) }
                if isOurs { try Data().write(to: URL(fileURLWithPath: path + "/" + LevelDBFolder.lockName)) }
                if isOurs || files["LOCK"] != nil {
                    try notes(path).addNotes(1...3, size: 50, .full)
                    #expect(try Self.open(path).get() == [1, 2, 3])
                } else {
                    #expect(failure { _ = try notes(path) }?.code == .notAStore)
                    #expect(try Set(FileManager.default.contentsOfDirectory(atPath: path)) == Set(files.keys))
                }
            }
        }
    }

    @Test func storeWithoutCurrentIsNotRecreated() throws {
        let folder = try Folder()
        let image = try Self.image(folder, of: 20)
        try FileManager.default.removeItem(atPath: image + "/CURRENT")
        let before = try Self.contents(image)
        #expect(failure { _ = try notes(image) }?.code == .corrupt)
        #expect(try Self.contents(image) == before)
    }
}
