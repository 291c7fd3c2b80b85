import PolyStorePlatform

/// The severity of a message.
public enum LogLevel: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Requests to a store, with their plans.
    case trace
    /// Commits, with the numbers of changed objects.
    case debug
    /// Opened stores, failed transactions and other events that need no attention.
    case info
    /// Significant events, such as migrations and indexes that are built in the background.
    case notice
    /// Conditions that slow a store down or let it grow, such as slow queries and long-lived snapshots.
    case warning
    /// Commits that fail because of a store, and errors that no caller receives.
    case error
    /// Failures of the application. The framework itself logs no message of this level.
    case critical

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// A destination for log messages of the framework. Implement it to forward messages to your own logging system.
///
/// Requirements on an implementation:
/// - Its methods may be called from any thread, including concurrently, and must not block for long because the caller waits for them.
/// - Its methods must not call into the stack that logs through it.
/// - ``isEnabled(_:)`` is called before a message is built and must return quickly.
public protocol StoreLogger: Sendable {
    /// Returns whether messages of a level are logged.
    func isEnabled(_ level: LogLevel) -> Bool
    /// Logs one message.
    ///
    /// `file` and `line` identify the call in the user's code that began the transaction, read or context, or that added the store; `function` names that call.
    /// Messages without such a call, such as those of a backend, carry a location in the framework.
    func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString)
    /// Logs one message with values for machines, by their stable names; see ``LogKey``. The default discards the values, because the message contains them in prose.
    /// Implement it to forward them to a logging system with structured messages.
    func log(
        _ level: LogLevel, _ message: String, metadata: [LogKey: LogValue], file: StaticString, line: UInt, function: StaticString)
    /// Logs an error that is also thrown or passed to the caller, with a description of the failed operation. For `file`, `line` and `function` see
    /// ``log(_:_:file:line:function:)``.
    func log(_ error: StoreError, _ message: String, file: StaticString, line: UInt, function: StaticString)
}

extension StoreLogger {
    public func log(
        _ level: LogLevel, _ message: String, metadata: [LogKey: LogValue], file: StaticString, line: UInt, function: StaticString
    ) {
        log(level, message, file: file, line: line, function: function)
    }

    public func log(_ error: StoreError, _ message: String, file: StaticString, line: UInt, function: StaticString) {
        log(.error, "\(message): \(error)", file: file, line: line, function: function)
    }

    /// Logs a message, building it only if its level is enabled.
    @inlinable
    public func write(
        _ level: LogLevel, _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) {
        if isEnabled(level) { log(level, message(), file: file, line: line, function: function) }
    }
}

/// A logger that discards all messages.
public struct SilentLogger: StoreLogger {
    /// Creates the logger.
    public init() {}
    public func isEnabled(_ level: LogLevel) -> Bool { false }
    public func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString) {}
}

/// A logger that writes messages at or above a level to the standard error stream, one line each. The default logger, with the level `warning`.
public struct StandardErrorLogger: StoreLogger {
    /// The lowest level that is logged.
    public let minimum: LogLevel

    /// Creates a logger.
    public init(minimum: LogLevel = .warning) { self.minimum = minimum }

    public func isEnabled(_ level: LogLevel) -> Bool { level >= minimum }

    public func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString) {
        guard isEnabled(level) else { return }
        var text = "[PolyStore] \(level): \(message) (\(file):\(line))\n"
        // One write call per message, so that lines of concurrent threads do not interleave.
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)[...]
            while !rest.isEmpty {
                let count = writeToStandardError(UnsafeRawBufferPointer(rebasing: rest))
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }
}

/// A free function, because `write` refers to the system call here.
private func writeToStandardError(_ bytes: UnsafeRawBufferPointer) -> Int { write(2, bytes.baseAddress, bytes.count) }
