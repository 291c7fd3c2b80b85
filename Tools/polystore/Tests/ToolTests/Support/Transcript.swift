import Foundation
import StoreTesting
import Testing

/// A session of a terminal: commands, and what they print on every engine.
///
///     # A comment.
///     $ polystore count "$STORE" Book
///     3
///
/// Output and errors follow each command in the order in which they are written, and then the exit code in brackets if it is not 0. `$STORE` is the URL of the
/// store, which the text shows as STORE. Run the tests with POLYSTORE_WRITE_TRANSCRIPTS=1 to write what SQLite prints, and read the difference before you commit it.
struct Transcript {
    private let path: String
    private var parts: [Part]

    private struct Part {
        /// Comments and empty lines before the command.
        var introduction: [String] = []
        var command = ""
        var expected: [String] = []
    }

    init(_ name: String) throws {
        path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path + "/Transcripts/\(name).txt"
        var parts = [Part()]
        for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
        {
            if line.hasPrefix("$ ") {
                if !parts[parts.count - 1].command.isEmpty { parts.append(Part()) }
                parts[parts.count - 1].command = String(line.dropFirst(2))
            } else if line.hasPrefix("# ") {
                if !parts[parts.count - 1].command.isEmpty { parts.append(Part()) }
                parts[parts.count - 1].introduction.append(line)
            } else if !parts[parts.count - 1].command.isEmpty {
                parts[parts.count - 1].expected.append(line)
            }
        }
        self.parts = parts.filter { !$0.command.isEmpty }.map { part in
            var part = part
            part.expected = Self.trimmed(part.expected)
            return part
        }
    }

    /// Runs the commands on a store, and compares what they print.
    mutating func check(_ engine: Engine, _ url: String, in folder: TemporaryFolder) throws {
        let isWriting = ProcessInfo.processInfo.environment["POLYSTORE_WRITE_TRANSCRIPTS"] == "1" && engine == .sqlite
        for index in parts.indices {
            let result = try Tool.run(parts[index].command, in: folder, ["STORE": url, "ENGINE": engine.rawValue], mergesErrors: true)
            let status = result.status == 0 ? [] : ["[\(result.status)]"]
            let lines =
                Self.trimmed(shown(result.output, url, folder).split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
                + status
            if isWriting { parts[index].expected = lines }
            let expected = parts[index].expected
            #expect(lines == expected, "\(engine): \(parts[index].command)\n\(lines.joined(separator: "\n"))")
        }
        if isWriting { try write() }
    }

    /// Replaces what differs from store to store.
    private func shown(_ text: String, _ url: String, _ folder: TemporaryFolder) -> String {
        let path = url.drop { $0 != ":" }.dropFirst()
        return text.replacingOccurrences(of: url, with: "STORE").replacingOccurrences(of: path, with: "STORE")
            .replacingOccurrences(of: folder.path, with: "FOLDER").replacingOccurrences(of: "\r\n", with: "\n")
    }

    private func write() throws {
        let text = parts.map { ($0.introduction + ["$ " + $0.command] + $0.expected).joined(separator: "\n") }.joined(separator: "\n\n")
        try (text + "\n").write(toFile: path, atomically: true, encoding: .utf8)
    }

    private static func trimmed(_ lines: [String]) -> [String] {
        var lines = lines
        while lines.last?.isEmpty ?? false { lines.removeLast() }
        return lines
    }
}
