internal import Foundation
internal import PolyStoreBackend

/// Another process that uses a store: `engine-child`, which is built next to the tests.
package final class Child: @unchecked Sendable {  // used by one test, on one thread
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var buffer: [UInt8] = []

    private final class Anchor {}

    private static func url(_ program: String) -> URL {
        #if canImport(Darwin)
            Bundle(for: Anchor.self).bundleURL.deletingLastPathComponent().appendingPathComponent(program)
        #else
            Bundle.main.bundleURL.appendingPathComponent(program)
        #endif
    }

    /// - Parameter program: The name of a program of this package, built next to the tests.
    package init(program: String = "engine-child", _ arguments: String...) throws {
        process.executableURL = Self.url(program)
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit { kill() }

    /// Returns the next line of the output, or nil at its end.
    package func line() -> String? {
        while true {
            if let end = buffer.firstIndex(of: 10) {
                defer { buffer.removeFirst(end + 1) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { return nil }
            buffer += more
        }
    }

    /// Returns the remaining lines of the output.
    package func lines() -> [String] {
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        return lines
    }

    /// Resumes the process where it waits.
    package func goOn() throws { try input.fileHandleForWriting.write(contentsOf: Data("go\n".utf8)) }

    /// Kills the process with SIGKILL and waits for its end.
    package func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    package func wait() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }
}
