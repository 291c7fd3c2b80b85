package import PolyStoreBackend

/// Records logged messages. A test that expects no messages checks that ``lines`` is empty.
package final class RecordingLogger: StoreLogger {
    package struct Entry: Sendable {
        package let level: LogLevel
        package let message: String
        package let metadata: [LogKey: LogValue]
        package let file: String
        package let line: UInt
    }

    private let minimum: LogLevel
    private let recorded = Protected<[Entry]>([])

    /// - Parameter minimum: The lowest level that is recorded.
    package init(_ minimum: LogLevel = .warning) { self.minimum = minimum }

    package func isEnabled(_ level: LogLevel) -> Bool { level >= minimum }

    package func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString) {
        log(level, message, metadata: [:], file: file, line: line, function: function)
    }

    package func log(
        _ level: LogLevel, _ message: String, metadata: [LogKey: LogValue], file: StaticString, line: UInt, function: StaticString
    ) {
        guard isEnabled(level) else { return }
        recorded.withLock { $0.append(Entry(level: level, message: message, metadata: metadata, file: "\(file)", line: line)) }
    }

    package var entries: [Entry] { recorded.withLock { $0 } }
    package var messages: [String] { entries.map(\.message) }
    /// The levels and the messages.
    package var lines: [String] { entries.map { "\($0.level): \($0.message)" } }

    /// Returns the entries of a level whose messages contain a text.
    package func entries(_ level: LogLevel, _ text: String) -> [Entry] { entries.filter { $0.level == level && $0.message.contains(text) } }
}
