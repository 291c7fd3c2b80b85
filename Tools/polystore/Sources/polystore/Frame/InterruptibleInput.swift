import Foundation
import PolyStoreFormats

/// The bytes of a stream, whose reader does not wait any longer once the command is interrupted.
final class InterruptibleInput: ByteSource {
    /// A pipe that has a byte from the first interruption on.
    private static let interruption: (reading: Int32, writing: Int32) = {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return (-1, -1) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }()

    private let descriptor: Int32
    private let name: String
    private let closes: Bool

    /// Creates a source of the standard input.
    init() { (descriptor, name, closes) = (STDIN_FILENO, "standard input", false) }

    /// Opens a pipe or a device.
    /// - Throws: `failure` with the message of the operating system.
    init(path: String) throws {
        (descriptor, name, closes) = (open(path, O_RDONLY | O_CLOEXEC), path, true)
        guard descriptor >= 0 else { throw ToolError(.failure, "Cannot open \"\(path)\": \(String(cString: strerror(errno))).") }
    }

    deinit {
        if closes { close(descriptor) }
    }

    /// Ends the waiting of every reader.
    static func interrupt() {
        var byte: UInt8 = 0
        _ = Foundation.write(interruption.writing, &byte, 1)
    }

    /// Returns the standard input until its end.
    /// - Throws: `CancellationError` if the command is interrupted.
    static func readAll() throws -> Data {
        let input = InterruptibleInput()
        var (data, part) = (Data(), [UInt8](repeating: 0, count: 1 << 16))
        while true {
            let count = try part.withUnsafeMutableBytes { try input.read(into: $0) }
            if count == 0 { return data }
            data.append(contentsOf: part[..<count])
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            var requests = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: Self.interruption.reading, events: Int16(POLLIN), revents: 0),
            ]
            let ready = poll(&requests, 2, -1)
            if ready > 0, requests[1].revents != 0 { throw CancellationError() }
            if ready > 0 {
                let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
                if count >= 0 { return count }
            }
            guard errno == EINTR || errno == EAGAIN else {
                throw RecordError(.inputOutput, "Cannot read '\(name)': \(String(cString: strerror(errno))).", isRecoverable: false)
            }
        }
    }
}
