#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// How much a message matters.
public enum LogLevel: Int, Sendable, Hashable, Comparable, CaseIterable {
    case trace, debug, info, notice, warning, error, critical

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// Takes what the framework has to say. Implement it to send messages to your own logging.
///
/// What an implementation must do, and what the suite's logger cases check:
/// - It may be called from any thread, from several at once, and must not block for long: the writer waits for it.
/// - It must not call back into the stack that logs through it.
/// - ``isEnabled(_:)`` is asked before a message is built; answer quickly.
public protocol StoreLogger: Sendable {
    /// Whether a message of this level would be used.
    func isEnabled(_ level: LogLevel) -> Bool
    /// Logs one message.
    ///
    /// `file` and `line` name the call in the user's code that began the transaction, read or context, or that added the store, and `function` says which of
    /// these it was. Messages that no such call causes, such as those of a backend, carry a place in the framework.
    func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString)
    /// Logs an error that is also thrown or handed to the caller, with what was being done; `file`, `line` and `function` as in
    /// ``log(_:_:file:line:function:)``.
    func log(_ error: StoreError, _ message: String, file: StaticString, line: UInt, function: StaticString)
}

extension StoreLogger {
    public func log(_ error: StoreError, _ message: String, file: StaticString, line: UInt, function: StaticString) {
        log(.error, "\(message): \(error)", file: file, line: line, function: function)
    }

    /// Builds the message only where it is wanted.
    @inlinable
    public func write(
        _ level: LogLevel, _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) {
        if isEnabled(level) { log(level, message(), file: file, line: line, function: function) }
    }
}

/// Drops everything.
public struct SilentLogger: StoreLogger {
    public init() {}
    public func isEnabled(_ level: LogLevel) -> Bool { false }
    public func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString) {}
}

/// Writes a line to the standard error stream for each message at or above a level. The default, at `warning`.
public struct StandardErrorLogger: StoreLogger {
    public let minimum: LogLevel

    public init(minimum: LogLevel = .warning) { self.minimum = minimum }

    public func isEnabled(_ level: LogLevel) -> Bool { level >= minimum }

    public func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString) {
        guard isEnabled(level) else { return }
        var text = "[PolyStore] \(level): \(message) (\(file):\(line))\n"
        // One write call, so that lines of several threads do not mix.
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

/// Outside the type, where `write` is the system's.
private func writeToStandardError(_ bytes: UnsafeRawBufferPointer) -> Int { write(2, bytes.baseAddress, bytes.count) }
