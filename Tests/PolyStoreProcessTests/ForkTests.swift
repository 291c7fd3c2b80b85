import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

/// A process with open stores creates a child with `fork`.
@Suite struct ForkTests {
    /// Every use in the child throws `misuse`, and the parent's store is unaffected.
    @Test(arguments: Backend.persistent)
    func theChildIsRefusedAndTheParentContinues(engine: Backend) throws {
        let folder = try Folder()
        let child = try Child("fork", engine.rawValue, folder.file("store"))
        #expect(
            child.lines() == [
                "beginRead misuse", "beginWrite misuse", "verify misuse", "compact misuse", "copy misuse",
                "open misuse", "an open reader misuse", "an open writer misuse", "commit misuse",
                "close ok", "the child has ended 0", "the reader sees 1...5", "committed", "done",
            ])
        #expect(child.wait() == 0)
        let store = try engine.notes(folder.file("store"))
        #expect(try store.wholeNotes() == Array(1...7))
        #expect(try store.backend.verify() == [])
    }

    @Test(arguments: Backend.allCases)
    func aStackIsRefusedInTheChild(engine: Backend) throws {
        let folder = try Folder()
        let child = try Child(program: "kill-child", "fork", engine.rawValue, folder.file("store"))
        #expect(
            child.lines() == [
                "read misuse", "perform misuse", "transaction misuse", "unsafe misuse", "the child has ended 0", "the parent continues",
            ])
        #expect(child.wait() == 0)
    }
}
