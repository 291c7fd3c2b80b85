import Foundation
import PolyStore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStorePostgreSQL
import PolyStoreSQLite
import StoreTesting
import Testing

/// Stores by URL and by path, those that cannot be opened, and those that others have open.
@Suite struct OpeningTests {
    @Test(arguments: Engine.files, ["library", "my store", "50% off?", "it's \"quoted\"", "a:b", "日本"])
    func engineOfAPathIsFoundFromTheFile(_ engine: Engine, _ name: String) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        let made = url.dropFirst(engine.rawValue.count + 1)
        try FileManager.default.moveItem(atPath: String(made), toPath: "\(folder.path)/\(name)")
        let result = try Tool.run(
            "polystore count \"$NAME\" Book && polystore info \"$PWD/$NAME\" --format json", in: folder, ["NAME": name])
        #expect(result.output.hasPrefix("3\n"), "\(result.errors)")
        #expect(result.output.contains("\"engine\":\"\(engine.rawValue)\""))
    }

    @Test(arguments: Engine.available)
    func anotherProcessCanHaveTheStoreOpen(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        let stack = try DataStack(Library.schema, logger: SilentLogger())
        try stack.addStore(url: url, engines: StoreEngines([.sqlite, .lmdb, .levelDB, .postgreSQL]))
        func add(_ name: String) throws {
            try stack.performAndWait { transaction in try transaction.create(Author.self) { ($0.name, $0.token) = (name, UUID()) } }
        }
        try add("Cid")
        let result = try Tool.run("polystore count '\(url)' Author", in: folder)
        if engine == .leveldb {
            #expect(result.status == 3)
            #expect(result.errors.contains("another process"), "\(result.errors)")
        } else {
            #expect(result.output == "4\n", "\(result.errors)")
        }
        // The program continues.
        try add("Dan")
        try stack.closeAndWait()
        #expect(try Tool.run("polystore count '\(url)' Author", in: folder).output == "5\n")
    }

    @Test(arguments: Engine.files)
    func readingDoesNotChangeTheStore(_ engine: Engine) throws {
        guard engine != .leveldb else { return }
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        let path = String(url.dropFirst(engine.rawValue.count + 1))
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        for command in [
            "query '\(url)' Book", "verify '\(url)'", "schema '\(url)'", "get '\(url)' Book 1", "group '\(url)' Book --by publisher",
        ] {
            try Tool.run("polystore \(command)", in: folder).succeeded()
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func storesThatCannotBeOpenedAreNamed() throws {
        let folder = try TemporaryFolder()
        try Engine.sqlite.makeLibrary(in: folder)
        var transcript = try Transcript("opening")
        try transcript.check(.sqlite, Engine.sqlite.url(folder), in: folder)
    }

    @Test func passwordsAreNotShown() throws {
        let folder = try TemporaryFolder()
        let result = try Tool.run("polystore info 'postgresql://jane:secret-word@127.0.0.1:1/db'", in: folder)
        #expect(result.status == 3)
        #expect(result.errors.contains("127.0.0.1") && !result.errors.contains("secret-word"))
    }
}
