import Foundation
import PolyStoreBackend
import PolyStoreConformance
import PolyStoreKeyValue
import Synchronization
import Testing

@testable import FileStore

private let target = ConformanceTarget(
    name: "filestore",
    capabilities: [
        .persistence, .fullDurability, .concurrentReaders, .verification, .plannedIndexes, .searchIndexes, .transferableWriter,
        .namedValues, .changeLog, .migration,
    ]
) { location in .fileStore(file: location.path) }

/// Known failing cases, by id, each with the reason. A listed case that passes fails the test.
private let knownFailures: [String: Comment] = [:]

@Suite struct Conformance {
    @Test(arguments: ConformanceCase.all)
    func conforms(_ c: ConformanceCase) async throws {
        guard let reason = knownFailures[c.id] else {
            _ = try await c.run(target)
            return
        }
        await withKnownIssue(reason) { try await c.run(target) }
    }

    @Test func claimsEqualCapabilities() throws { #expect(try target.claimedFeatures() == target.capabilities) }

    /// Compares random schemas, changes and requests with a naive model.
    @Test func resultsEqualTheModel() async throws {
        for seed in 1...300 { try await Oracle.run(seed: UInt64(seed), on: target) }
    }
}

/// The engine without the record layer.
private let engine = EngineTarget(
    name: "filestore", features: [.persistence, .fullDurability],
    open: { location in try .fileStore(StorePath.resolve(location.path), SilentLogger()) },
    setWritesFail: { engine, fails in if let engine = engine as? FileEngine { try FullDisk.replace(engine, fails) } })

@Suite struct Engine {
    @Test(arguments: EngineCase.all)
    func conformsAsEngine(_ c: EngineCase) async throws { try await c.run(engine) }

    @Test func engineEqualsASortedArray() async throws {
        for seed in 100...150 { try await EngineOracle.run(seed: UInt64(seed), on: engine) }
    }

    @Test(arguments: [false, true])
    func injectedFaultsAreErrors(isForEver: Bool) async throws {
        let report = try await FaultHarness(engine).run(every: 17, isForEver: isForEver)
        #expect(report.wrong == [])
        #expect(report.errors > 10)
    }

    /// Without truncation: a truncated log looks like one whose last write was torn, and the commits behind the cut are lost.
    @Test func damageIsFound() async throws {
        let report = try await DamageHarness(target, rows: 60).run(flips: 100, cuts: 0, seed: 1)
        #expect(report.wrong == [])
    }

    @Test func killedProcessLosesNoAcknowledgedCommit() async throws {
        let child = Bundle.main.bundleURL.appendingPathComponent("filestore-child").path
        let harness = KillHarness(target, program: child) { location, durability in [location.path, durability.rawValue] }
        let report = try await harness.run(kills: 5, durability: .full, seed: 1)
        #expect(report.acknowledged > 0)
    }
}

/// Replaces an engine's file with a full device, and restores the file.
private enum FullDisk {
    private static let files = Mutex<[String: Int32]>([:])

    static func replace(_ engine: FileEngine, _ isFull: Bool) throws {
        files.withLock { files in
            if let file = files.removeValue(forKey: engine.location) {
                dup2(file, engine.log.file)
                close(file)
            }
            guard isFull else { return }
            files[engine.location] = dup(engine.log.file)
            let full = open("/dev/full", O_RDWR)
            dup2(full, engine.log.file)
            close(full)
        }
    }
}

/// Tests of the engine's file format.
@Suite final class Files {
    private let path = FileManager.default.temporaryDirectory.path + "/filestore-" + UUID().uuidString
    deinit { try? FileManager.default.removeItem(atPath: path) }

    private static let schema = Result {
        let text = AttributeDescription(name: "text", type: .string, isUnique: true)
        return try ResolvedSchema(
            SchemaDescription(name: "Notes", entities: [EntityDescription(name: "Note", properties: [.attribute(text)])]))
    }

    private func open() throws -> any StorageBackend {
        try StoreConfiguration.fileStore(file: path).open(schema: Self.schema.get(), configurationName: nil, logger: SilentLogger())
    }

    private func insert(_ store: any StorageBackend, _ ids: ClosedRange<Int64>, text: (Int64) -> String = { "note \($0)" }) throws {
        let transaction = try store.beginWrite()
        let changes = ChangeSet(try Self.schema.get())
        let entity = changes.schema.entities[0]
        for id in ids { try changes.insert(entity, rowID: id) { try $0.set(entity.fields[0], .text(text(id))) } }
        try transaction.apply(changes)
        _ = try transaction.commit(.full)
    }

    private func count(_ store: any StorageBackend) throws -> Int {
        let reader = try store.beginRead()
        defer { reader.end() }
        return try reader.count(FetchRequest(try Self.schema.get().entities[0]))
    }

    private func contents() throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }
    private func replace(_ bytes: some Sequence<UInt8>) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }

    @Test func fileIsPrivate() throws {
        try open().close()
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }

    /// A file truncated at any byte contains the complete commits, and accepts new ones.
    @Test func tornEndIsTruncated() throws {
        var ends: [Int] = []
        do {
            let store = try open()
            for id in 1...4 as ClosedRange<Int64> {
                ends.append(try contents().count)
                try insert(store, id...id)
            }
            ends.append(try contents().count)
            try store.close()
        }
        let whole = try contents()
        for length in Set(stride(from: ends[0], through: ends[4], by: 7)).union(ends).sorted() {
            // Writes that did not reach the disk can be missing, or zeros.
            for rest in Set([0, ends.first { $0 >= length }! - length]) {
                try replace(whole[..<length] + [UInt8](repeating: 0, count: rest))
                let store = try open()
                let kept = try count(store)
                #expect(kept == ends.lastIndex { $0 <= length }, "cut at \(length), then \(rest) zeros")
                try insert(store, 9...9)
                try store.close()
                let again = try open()
                #expect(try count(again) == kept + 1)
                #expect(try again.verify() == [])
                try again.close()
            }
        }
    }

    /// Every changed byte of a closed store is detected, except in the empty batch at its end.
    @Test func flippedByteIsDetected() throws {
        do {
            let store = try open()
            for id in 1...4 as ClosedRange<Int64> { try insert(store, id...id) }
            try store.close()
        }
        let whole = try contents()
        for position in whole.indices {
            var bytes = whole
            bytes[position] ^= 1 << UInt8(position % 8)
            try replace(bytes)
            do {
                let store = try open()
                #expect(position >= whole.count - 16, "byte \(position)")
                #expect(try count(store) == 4)
                try store.close()
            } catch let error as StoreError {
                #expect([.corrupt, .notAStore].contains(error.code), "byte \(position): \(error)")
                #expect(try contents() == bytes, "a refused file was changed")
            }
        }
    }

    @Test func afterAFailedWriteNothingIsWritten() throws {
        let engine = try FileEngine(StorePath(path: path), SilentLogger())
        let store = try KeyValueBackend(EngineHandle(private: engine), OpenRequest(schema: Self.schema.get()))
        try insert(store, 1...1)
        // The disk is full now.
        let full = Foundation.open("/dev/full", O_RDWR)
        let disk = dup(engine.log.file)
        dup2(full, engine.log.file)
        #expect(throws: StoreError.self) { try insert(store, 2...2) }
        // The disk has space again, but the engine stays failed.
        dup2(disk, engine.log.file)
        let error = #expect(throws: StoreError.self) { try insert(store, 3...3) }
        #expect(error?.message.contains("open it again") == true)
        #expect(try count(store) == 1)
        try store.close()
        for descriptor in [full, disk] { Foundation.close(descriptor) }
        #expect(try count(open()) == 1)
    }

    @Test func deletedAndOverwrittenBytesAreReclaimed() throws {
        let long = String(repeating: "x", count: 10_000)
        do {
            let store = try open()
            for round in 0..<300 as Range<Int64> { try insert(store, round + 1...round + 1) { "\(long) \($0)" } }
            let entity = try Self.schema.get().entities[0]
            let changes = ChangeSet(try Self.schema.get())
            for id in 2...300 as ClosedRange<Int64> { changes.delete(entity, rowID: id) }
            let transaction = try store.beginWrite()
            try transaction.apply(changes)
            _ = try transaction.commit(.full)
            try store.close()
        }
        let before = try contents().count
        let store = try open()
        #expect(try count(store) == 1)
        #expect(try contents().count < before / 10)
        try insert(store, 400...400)
        try store.close()
        #expect(try count(open()) == 2)
    }

    @Test func oneDescriptorHoldsTheLock() throws {
        let first = try FileEngine(StorePath(path: path), SilentLogger())
        let error = #expect(throws: StoreError.self) { try FileEngine(StorePath(path: path), SilentLogger()) }
        #expect(error?.code == .busy)
        first.close()
        try FileEngine(StorePath(path: path), SilentLogger()).close()
    }
}
