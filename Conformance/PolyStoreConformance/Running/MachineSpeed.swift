import Foundation
import PolyStoreBackend

/// The current speed of the machine under its load.
enum MachineSpeed {
    /// Returns how many times longer than normal a fixed amount of work takes: memory copies, which compete for the processor, and flushes of a small file,
    /// which compete for the disk. At least 1.
    static func slowness() -> Double { max(1, copies() / .milliseconds(150), flushes() / .milliseconds(200)) }

    private static func copies() -> Duration {
        let size = 1 << 20
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: 2 * size, alignment: 16)
        defer { bytes.deallocate() }
        memset(bytes, 1, 2 * size)
        return ContinuousClock().measure {
            for _ in 0..<1000 { memmove(bytes + size, bytes, size) }
        }
    }

    private static func flushes() -> Duration {
        let path = FileManager.default.temporaryDirectory.path + "/polystore-speed-" + UUID().uuidString
        let storePath = StorePath(path: path)
        defer { unlink(path) }
        return ContinuousClock().measure {
            let file = Foundation.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            defer { Foundation.close(file) }
            for number in 0..<10 as Range<UInt8> where file >= 0 {
                _ = [UInt8](repeating: number, count: 4096).withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
                try? storePath.flush(file)
            }
        }
    }
}
