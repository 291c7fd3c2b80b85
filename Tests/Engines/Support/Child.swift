internal import ChildProcesses
internal import Foundation

/// Another process that uses a store: `engine-child`, which is built next to the tests.
package final class Child: @unchecked Sendable {  // used by one test, on one thread
    private let process: ChildProcess
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
        process = try ChildProcess(Self.url(program).path, arguments, input: .pipe, output: .pipe)
    }

    /// Returns the next line of the output, or nil at its end.
    package func line() -> String? {
        while true {
            if let end = buffer.firstIndex(of: 10) {
                defer { buffer.removeFirst(end + 1) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            guard let more = process.output?.availableData, !more.isEmpty else { return nil }
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
    package func goOn() throws { try process.input?.write(contentsOf: Data("go\n".utf8)) }

    /// Sends a line to the process, and returns the next line of its output, or nil at the end of the output.
    package func answer(to line: String) throws -> String? {
        try process.input?.write(contentsOf: Data("\(line)\n".utf8))
        return self.line()
    }

    /// Kills the process with SIGKILL and waits for its end.
    package func kill() { process.kill() }

    /// Waits for the end of the process. Returns its exit status; 128 and the number of the signal that ended it.
    package func wait() -> Int32 { process.wait() }
}
