import PolyStoreBackend

/// Forwards messages to the current logger of a stack, so that the stores that are open receive a logger that is installed later.
struct CurrentLogger: StoreLogger {
    private let box: Protected<any StoreLogger>

    init(_ box: Protected<any StoreLogger>) { self.box = box }

    // A logger is called without the lock: it may take time, and may install another logger.
    private var current: any StoreLogger { box.withLock { $0 } }

    func isEnabled(_ level: LogLevel) -> Bool { current.isEnabled(level) }

    func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString) {
        current.log(level, message, file: file, line: line, function: function)
    }

    func log(_ error: StoreError, _ message: String, file: StaticString, line: UInt, function: StaticString) {
        current.log(error, message, file: file, line: line, function: function)
    }
}
