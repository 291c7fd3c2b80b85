import EngineTestSupport
import Foundation
import PolyStoreBackend
import Testing

@testable import PolyStoreKeyValue

/// Records logged messages.
final class Log: StoreLogger, @unchecked Sendable {  // the lines are accessed under the lock only
    private let lock = Lock()
    private var kept: [String] = []
    var lines: [String] { lock.withLock { kept } }

    func isEnabled(_ level: LogLevel) -> Bool { true }
    func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString) {
        lock.withLock { kept.append("\(level): \(message)") }
    }
}
