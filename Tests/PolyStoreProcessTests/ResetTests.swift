import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

/// A store is reset for another model while other processes have it open, or reset it too.
@Suite struct ResetTests {
    /// One process resets the store, the others open the new one; every commit is kept.
    @Test(arguments: Backend.shared)
    func ofManyProcessesOneEmptiesTheStore(engine: Backend) throws {
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

    /// A process with the store open for the old model cannot commit, and gets the reason.
    @Test(arguments: Backend.shared)
    func aProcessWhoseStoreWasEmptiedIsRefused(engine: Backend) throws {
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

    /// A reset waits for a running transaction of another process, and then discards all of its changes.
    @Test(arguments: Backend.shared)
    func aResetWaitsForARunningTransaction(engine: Backend) throws {
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
