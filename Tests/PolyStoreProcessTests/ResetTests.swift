import EngineTestSupport
import Foundation
import PolyStoreBackend
import Testing

/// A store is emptied for another model while other processes have it open, or do the same.
@Suite struct ResetTests {
    /// What anybody has committed is there: one empties the store, the others find it made.
    @Test(arguments: Engine.allCases.filter(\.servesProcesses))
    func ofManyProcessesOneEmptiesTheStore(engine: Engine) throws {
        let folder = try Folder()
        let path = folder.file("store")
        let old = try engine.notes(path, "Model0")
        try old.add("Model0", 1)
        try old.backend.close()
        for round in 1...6 {
            let model = "Model\(round)"
            let children = try (1...6).map { try Child("reset", engine.rawValue, path, model, "\($0)") }
            for child in children { #expect(child.line() == "ready") }
            for child in children { try child.goOn() }
            for (number, child) in children.enumerated() { #expect(child.lines() == ["\(number + 1)"], "\(model)") }
            let store = try engine.notes(path, model)
            #expect(try store.ids(model) == Array(1...6), "\(model): what was acknowledged is there")
            #expect(try store.backend.verify() == [])
            try store.backend.close()
        }
    }

    /// The other process has the store open; it commits nothing that could be lost, and says why.
    @Test(arguments: Engine.allCases.filter(\.servesProcesses))
    func aProcessWhoseStoreWasEmptiedIsRefused(engine: Engine) throws {
        let folder = try Folder()
        let path = folder.file("store")
        let child = try Child("insert", engine.rawValue, path, "Apple", "3")
        #expect(child.line() == "1")
        let new = try engine.notes(path, "Banana") { $0.resettingOnModelMismatch() }
        try new.add("Banana", 1)
        try child.goOn()
        #expect(child.line() == "differentStoreAtURL")
        try new.add("Banana", 2)
        try child.goOn()
        #expect(child.line() == "differentStoreAtURL")
        #expect(child.wait() == 0)
        #expect(try new.ids("Banana") == [1, 2])
        #expect(try new.backend.verify() == [])
        try new.backend.close()
        #expect(try engine.notes(path, "Banana").ids("Banana") == [1, 2])
    }

    /// The process that empties a store waits for one that is writing, and what that one commits is then gone with the rest, not half there.
    @Test(arguments: Engine.allCases.filter(\.servesProcesses))
    func aResetWaitsForARunningTransaction(engine: Engine) throws {
        let folder = try Folder()
        let path = folder.file("store")
        let child = try Child("block", engine.rawValue, path, "1", "3", "100")
        #expect(child.line() == "ready")
        let reset = try Child("reset", engine.rawValue, path, "Other", "1")
        #expect(reset.line() == "ready")
        try reset.goOn()
        try child.goOn()
        #expect(child.line() == "done")
        #expect(reset.lines() == ["1"])
        #expect(child.wait() == 0)
        let store = try engine.notes(path, "Other")
        #expect(try store.ids("Other") == [1])
        #expect(try store.backend.verify() == [])
    }
}
