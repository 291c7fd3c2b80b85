import PolyStoreBackend

/// Forwards messages to the current logger of a stack, so that the stores that are open receive a logger that is installed later.
package struct CurrentLogger: StoreLogger {
    private let box: Protected<any StoreLogger>

    /// Creates a logger that forwards to the one in a box.
    package init(_ box: Protected<any StoreLogger>) { self.box = box }

    // A logger is called without the lock: it may take time, and may install another logger.
    private var current: any StoreLogger { box.withLock { $0 } }

    package func isEnabled(_ level: LogLevel) -> Bool { current.isEnabled(level) }

    package func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString) {
        current.log(level, message, file: file, line: line, function: function)
    }

    package func log(
        _ level: LogLevel, _ message: String, metadata: [LogKey: LogValue], file: StaticString, line: UInt, function: StaticString
    ) {
        current.log(level, message, metadata: metadata, file: file, line: line, function: function)
    }

    package func log(_ error: StoreError, _ message: String, file: StaticString, line: UInt, function: StaticString) {
        current.log(error, message, file: file, line: line, function: function)
    }
}
