import Foundation
import PolyStoreBackend
import Testing

/// The file operations that backends share: opening with a lock, flushing, and their errors.
@Suite struct StorePathTests {
    private let place = StorePath(path: StorePath.resolve(FileManager.default.temporaryDirectory.path) + "/place-" + UUID().uuidString)

    @Test func oneCallHasTheLock() throws {
        defer { unlink(place.path) }
        let first = try place.openLocked(mode: 0o600)
        #expect(try FileManager.default.attributesOfItem(atPath: place.path)[.posixPermissions] as? Int == 0o600)
        #expect(#expect(throws: StoreError.self) { try place.openLocked(mode: 0o600) }?.code == .busy)
        #expect(close(first) == 0)
        #expect(close(try place.openLocked(mode: 0o600)) == 0)
    }

    @Test func flushingAndRefusing() throws {
        defer { unlink(place.path) }
        let file = try place.openLocked(mode: 0o600)
        try place.flush(file)
        try place.flushFolder()
        close(file)
        #expect(#expect(throws: StoreError.self) { try place.flush(-1) }?.code == .io)
        #expect(place.refused("Writing failed", ENOSPC).code == .full)
        #expect(#expect(throws: StoreError.self) { try StorePath(path: "/no/such/folder/x").openLocked(mode: 0o600) }?.code == .io)
        #expect(#expect(throws: StoreError.self) { try StorePath(path: "a\0b").openLocked(mode: 0o600) }?.code == .io)
    }
}
