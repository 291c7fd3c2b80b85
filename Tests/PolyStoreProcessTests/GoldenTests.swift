import EngineTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreSQLite
import TestSupport
import Testing

/// Stores of earlier formats, which every later release opens and migrates; see `Tests/Golden/README.md`.
@Suite struct GoldenTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Golden").path

    /// A store in `Tests/Golden`: its name and its engine.
    struct GoldenStore: Sendable, CustomTestStringConvertible {
        let name: String
        let engine: Backend
        var testDescription: String { name }
    }

    static let stores = Backend.persistent.map { GoldenStore(name: "\($0)-1.store", engine: $0) }

    private static func copy(_ golden: GoldenStore, _ folder: Folder) throws -> String {
        let path = folder.file("store")
        try FileManager.default.copyItem(atPath: Self.folder + "/" + golden.name, toPath: path)
        return path
    }

    @Test(arguments: stores)
    func everyValueIsRead(golden: GoldenStore) throws {
        let folder = try Folder()
        let path = try Self.copy(golden, folder)
        for _ in 1...2 {
            let store = try Store(golden.engine.store(at: path), try Golden.schema())
            #expect(store.backend.metadata.schema.name == "golden")
            try Golden.check(store)
            try store.write { try $0.insert("Team", 3, ["title": .text("added")]) }
            try store.write { try $0.delete("Team", 3) }
            try store.backend.close()
        }
    }

    @Test(arguments: stores)
    func theStoreIsMigrated(golden: GoldenStore) throws {
        let folder = try Folder()
        let path = try Self.copy(golden, folder)
        let old = try Store(golden.engine.store(at: path), try Golden.schema())
        guard old.backend.capabilities.has(.migration) else { return }
        try old.backend.beginMigration(try Golden.change(old.schema)).commit()
        let new = try Store(golden.engine.store(at: path), try Golden.migratedSchema())
        #expect(new.backend.metadata.storeID == old.backend.metadata.storeID)
        try Golden.check(new, isMigrated: true)
        try new.backend.close()
    }

    /// Rewrites the stores, in the folder that `POLYSTORE_GOLDEN` names.
    @Test(.enabled(if: TestEnvironment.text("POLYSTORE_GOLDEN") != nil), arguments: stores)
    func storesAreWritten(golden: GoldenStore) throws {
        let folder = try #require(TestEnvironment.text("POLYSTORE_GOLDEN"))
        // Small pages make a small file.
        var options = SQLiteOptions()
        options.pageSize = 512
        let path = "\(folder)/\(golden.name)"
        let configuration = golden.engine == .sqlite ? .sqlite(file: path, options: options) : golden.engine.store(at: path)
        let store = try Store(configuration, try Golden.schema())
        try Golden.write(store)
        try Golden.check(store)
        try store.backend.close()
    }
}
