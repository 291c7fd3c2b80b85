import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

extension Backend {
    /// The engines whose stores can be migrated.
    static let migrating = persistent.filter { engine in
        guard let folder = try? Folder(), let store = try? engine.notes(folder.file("store")) else { return false }
        defer { try? store.backend.close() }
        return store.backend.capabilities.has(.migration)
    }
}

/// Several processes migrate a store, or one does and is killed.
@Suite struct MigrationProcessTests {
    /// A process that has the store open for the old schema cannot write to the new one, and gets the reason.
    @Test(arguments: Backend.migrating.filter(Backend.shared.contains))
    func aProcessWithTheOldSchemaIsRefused(engine: Backend) throws {
        let folder = try Folder()
        let path = folder.file("store")
        let child = try Child("insert", engine.rawValue, path, "Note", "3")
        #expect(child.line() == "1")
        try Memos.migrate(try engine.notes(path))
        let new = try Store(engine.store(at: path), try Memos.schema())
        for _ in 1...2 {
            try child.goOn()
            #expect(child.line() == "differentStoreAtURL")
        }
        #expect(child.wait() == 0)
        #expect(try new.ids("Memo") == [1])
        #expect(try new.backend.verify() == [])
    }

    /// One process migrates the store; the others get an error.
    @Test(arguments: Backend.migrating.filter(Backend.shared.contains))
    func ofManyProcessesOneMigratesTheStore(engine: Backend) throws {
        let folder = try Folder()
        let path = folder.file("store")
        let old = try engine.notes(path)
        try old.addNotes(1...3000, size: 100)
        try old.backend.close()
        let children = try (1...4).map { _ in try Child("migrate-memos", engine.rawValue, path) }
        for child in children { #expect(child.line() == "ready") }
        for child in children { try child.goOn() }
        let results = children.map { $0.lines().last ?? "nothing" }.sorted()
        #expect(results.filter { $0 == "done" }.count == 1, "\(results)")
        #expect(results.allSatisfy { ["done", "differentStoreAtURL", "busy"].contains($0) }, "\(results)")
        try Memos.check(try Store(engine.store(at: path), try Memos.schema()), count: 3000)
    }

    /// A killed process leaves the store before or after the migration. In the former case, it can be migrated again.
    ///
    /// The kills are spread evenly over the duration of an uninterrupted migration, each at a random time within its part. If the machine was slower then, so
    /// that every killed migration had already ended, further ones are killed immediately, until one leaves the old store.
    /// `POLYSTORE_MIGRATION_KILLS` is the number of kills of each engine.
    @Test(arguments: Backend.migrating)
    func aKilledMigrationLeavesTheOldStoreOrTheNewOne(engine: Backend) throws {
        let kills = TestEnvironment.number("POLYSTORE_MIGRATION_KILLS") ?? Ring.size(6, thorough: 20)
        // Labels are saved in batches of 1000.
        let count: Int64 = Ring.size(4000, thorough: 20_000)
        let folder = try Folder()
        let original = folder.file("original")
        let store = try engine.notes(original)
        for first in stride(from: 1, to: count, by: 2000) { try store.addNotes(first...(first + 1999), size: 40) }
        try store.backend.close()
        func copy(_ name: String) throws -> String {
            let path = folder.file(name)
            for file in folder.names where file.hasPrefix("original") {
                try FileManager.default.copyItem(atPath: folder.file(file), toPath: path + file.dropFirst("original".count))
            }
            return path
        }
        /// - Returns: The duration of the migration, unless the process is killed.
        func migrate(_ path: String, killedAfter delay: Duration?) throws -> Duration {
            let child = try Child("migrate-memos", engine.rawValue, path)
            #expect(child.line() == "ready")
            let start = ContinuousClock.now
            try child.goOn()
            guard let delay else {
                #expect(child.lines() == ["begun", "done"])
                return ContinuousClock.now - start
            }
            Thread.sleep(forTimeInterval: Double(delay.components.seconds) + Double(delay.components.attoseconds) / 1e18)
            child.kill()
            return delay
        }
        let whole = try migrate(try copy("whole"), killedAfter: nil)
        var outcomes = (old: 0, new: 0)
        var kill = 0
        while kill < kills || (outcomes.old == 0 && kill < kills + 20) {
            defer { kill += 1 }
            let path = try copy("killed\(kill)")
            let part = kill < kills ? (Double(kill) + Double.random(in: 0..<1)) / Double(kills) : 0
            _ = try migrate(path, killedAfter: whole * (part * 1.1))
            do {
                let old = try engine.notes(path)
                #expect(try old.wholeNotes().count == Int(count), "kill \(kill)")
                #expect(try old.backend.verify() == [], "kill \(kill)")
                outcomes.old += 1
                // Every other store is only opened with its old schema.
                if kill % 2 == 0 {
                    try Memos.migrate(old)
                    try Memos.check(try Store(engine.store(at: path), try Memos.schema()), count: count)
                }
            } catch let error as StoreError where error.code == .migrationRequired {
                #expect(error.storedSchema == (try Memos.schema().description))
                try Memos.check(try Store(engine.store(at: path), try Memos.schema()), count: count)
                outcomes.new += 1
            }
            for file in folder.names where file.hasPrefix("killed\(kill)") { try FileManager.default.removeItem(atPath: folder.file(file)) }
        }
        print("\(engine): \(kill) migrations killed within \(whole): \(outcomes.old) left the old store, \(outcomes.new) the new one")
        #expect(outcomes.old > 0, "no kill interrupted a migration")
    }
}
