import EngineTestSupport
import Foundation
import PolyStoreBackend
import SeededRandom
import TestSupport
import Testing

/// A process that builds a full-text index and writes, and is killed.
@Suite struct KilledBuildTests {
    private static func fill(_ backend: Backend, _ path: String) throws {
        var random = SplitMix64(seed: 11)
        let store = try Store(backend.store(at: path), Texts.schema([]))
        for start in stride(from: Int64(1), through: 2001, by: 1000) {
            try store.write { changes in for id in start..<start + 1000 { try changes.insert("Note", id, Texts.values(&random, id)) } }
        }
        try store.backend.close()
    }

    @Test(arguments: Backend.shared) func otherProcessWritesWhileAnIndexIsBuilt(_ backend: Backend) throws {
        let folder = try Folder()
        let path = folder.file("store")
        try Self.fill(backend, path)
        let child = try Child("search", backend.rawValue, path, "10000")
        #expect(child.line() == "open")
        let store = try Store(backend.store(at: path), Texts.schema([Texts.both]))
        for id in Int64(700)..<720 { try store.write { try $0.update("Note", id, ["title": .text("lazy here \(id)")]) } }
        while child.line().flatMap({ Int64($0) }) ?? .max < 10_020 {}
        store.waitForIndexes()
        child.kill()
        #expect(try store.searchDifferences(["lazy fox", "here"]) == [])
        let findings = try store.backend.verify()
        #expect(findings == [])
    }

    /// The kills are at random times. Some find the index complete and some do not; the outcome is the same.
    @Test(arguments: Backend.persistent) func killedBuildIsContinued(_ backend: Backend) throws {
        let folder = try Folder()
        let path = folder.file("store")
        var random = SplitMix64(seed: 11)
        try Self.fill(backend, path)
        var next: Int64 = 10_000
        for _ in 0..<Ring.size(3, thorough: 20) {
            let child = try Child("search", backend.rawValue, path, "\(next)")
            #expect(child.line() == "open")
            Thread.sleep(forTimeInterval: Double(random.below(300)) / 1000)
            child.kill()
            let acknowledged = child.lines().compactMap { Int64($0) }.last
            let store = try Store(backend.store(at: path), Texts.schema([Texts.both]))
            let findings = try store.backend.verify()
            #expect(findings == [])
            let ids = try store.ids("Note").filter { $0 >= 10_000 }
            #expect(ids.last ?? 0 >= acknowledged ?? 0)
            #expect(ids == Array(10_000..<(10_000 + Int64(ids.count))))
            next = 10_000 + Int64(ids.count)
            try store.backend.close()
        }
        let store = try Store(backend.store(at: path), Texts.schema([Texts.both]))
        store.waitForIndexes()
        #expect(try store.searchDifferences(["lazy fox"]) == [])
        #expect(try store.backend.verify() == [])
    }
}
