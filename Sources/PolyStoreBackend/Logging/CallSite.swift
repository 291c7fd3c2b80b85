/// The location in the user's code that began a transaction, a read or a context. Log messages about it carry this file and line.
package struct CallSite: Sendable {
    /// The kind of operation: `transaction`, `read`, `view`, …
    package let kind: StaticString
    package let file: StaticString
    package let line: UInt

    package init(_ kind: StaticString, file: StaticString, line: UInt) {
        self.kind = kind
        self.file = file
        self.line = line
    }

    /// The call site of operations that the framework begins itself.
    package static var framework: CallSite { CallSite("framework", file: #fileID, line: #line) }
}

extension StoreLogger {
    /// Logs a message about the operation of a call site.
    package func write(_ level: LogLevel, _ site: CallSite, _ message: @autoclosure () -> String) {
        if isEnabled(level) { log(level, message(), file: site.file, line: site.line, function: site.kind) }
    }

    /// Logs an error that ended the operation of a call site, at `info` because the caller receives it too.
    package func writeFailure(_ error: any Error, _ site: CallSite) { write(.info, site, "\(site.kind) failed: \(error)") }

    /// Logs that applied changes could not be committed, at `error` if the store has failed.
    package func writeCommitFailure(_ error: any Error, _ site: CallSite) {
        if let error = error as? StoreError, [.io, .corrupt, .full].contains(error.code) {
            log(error, "\(site.kind) failed", file: site.file, line: site.line, function: site.kind)
        } else {
            writeFailure(error, site)
        }
    }
}
