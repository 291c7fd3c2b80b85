import PolyStoreBackend

/// A separate thread for work that may block. ``value()`` waits for it.
final class OnThread<Value: Sendable>: Sendable {
    private let result = Protected<Result<Value, any Error>?>(nil)

    init(_ body: @escaping @Sendable () throws -> Value) {
        CaseThread.start { [result] in
            let value = Result { try body() }
            result.signal { $0 = value }
        }
    }

    /// Waits for the result without a time limit: a case that hangs here fails by its own time limit.
    func value() throws -> Value { try result.wait(until: { $0 != nil }) { $0 }!.get() }
}
