import Foundation
import PolyStoreBackend
import Testing

/// The file operations that backends share: opening with a lock, flushing, and their errors.
@Suite struct StorePathTests {
    private let storePath = StorePath(path: StorePath.resolve(FileManager.default.temporaryDirectory.path) + "/place-" + UUID().uuidString)

    @Test func oneCallHasTheLock() throws {
        defer { unlink(storePath.path) }
        let first = try storePath.openLocked(mode: 0o600)
        #expect(try FileManager.default.attributesOfItem(atPath: storePath.path)[.posixPermissions] as? Int == 0o600)
        #expect(#expect(throws: StoreError.self) { try storePath.openLocked(mode: 0o600) }?.code == .busy)
        #expect(close(first) == 0)
        #expect(close(try storePath.openLocked(mode: 0o600)) == 0)
    }

    @Test func flushingAndRefusing() throws {
        defer { unlink(storePath.path) }
        let file = try storePath.openLocked(mode: 0o600)
        try storePath.flush(file)
        try storePath.flushFolder()
        close(file)
        #expect(#expect(throws: StoreError.self) { try storePath.flush(-1) }?.code == .io)
        #expect(storePath.refused("Writing failed", ENOSPC).code == .full)
        #expect(#expect(throws: StoreError.self) { try StorePath(path: "/no/such/folder/x").openLocked(mode: 0o600) }?.code == .io)
        #expect(#expect(throws: StoreError.self) { try StorePath(path: "a\0b").openLocked(mode: 0o600) }?.code == .io)
    }
}
