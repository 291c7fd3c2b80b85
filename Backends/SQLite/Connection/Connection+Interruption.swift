import CSQLite
import PolyStoreBackend

extension Connection {
    /// The number of SQLite's instructions between two calls of a check of an operation on the whole store: a few milliseconds.
    private static let instructionsPerCheck: Int32 = 100_000
    /// The number of instructions of a statement between two checks of a request. A row takes at least two.
    private static let instructionsPerRequestCheck: Int32 = 10_000

    /// Runs statements that take long, and calls a check regularly while SQLite executes them. An error that the check throws interrupts them.
    /// - Throws: The error of the check, and errors of the work.
    func interruptible(by check: () throws -> Void, during work: () throws -> Void) throws {
        try withoutActuallyEscaping(check) { check in
            let statements = InterruptedStatements(check)
            // Before the first statement, so that an operation that is already cancelled does not begin.
            try check()
            call(statements, every: Self.instructionsPerCheck)
            defer { call(nil, every: 0) }
            do { try work() } catch { throw statements.error ?? error }
            if let error = statements.error { throw error }
        }
    }

    /// Lets SQLite call a check while it executes statements.
    private func call(_ statements: InterruptedStatements?, every instructions: Int32) {
        guard let statements else { return sqlite3_progress_handler(handle, 0, nil, nil) }
        sqlite3_progress_handler(
            handle, instructions,
            { pointer in
                guard let pointer else { return 0 }
                return Unmanaged<InterruptedStatements>.fromOpaque(pointer).takeUnretainedValue().isWanted ? 1 : 0
            }, Unmanaged.passUnretained(statements).toOpaque())
    }

    // MARK: Requests

    /// The interruption of the statements of requests. It must be nil when a transaction begins or ends.
    var interruption: Interruption? {
        get { interruptedRequests?.interruption }
        set {
            guard newValue !== interruption else { return }
            let requests = newValue.map { InterruptedRequests($0) }
            call(requests, every: Self.instructionsPerRequestCheck)
            interruptedRequests = requests
        }
    }

    /// Runs statements that are not interrupted: those that write, and those that read one object. SQLite counts the instructions of a statement over all its executions.
    @inline(__always)
    func uninterrupted<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let interruptedRequests, !interruptedRequests.isPaused else { return try body() }
        interruptedRequests.isPaused = true
        defer { interruptedRequests.isPaused = false }
        return try body()
    }
}

/// A check that SQLite calls while it executes a statement.
class InterruptedStatements {
    private let check: () throws -> Void
    /// The error that the check threw.
    private(set) final var error: (any Error)?
    /// A Boolean value that indicates whether the check is not called.
    final var isPaused = false

    fileprivate init(_ check: @escaping () throws -> Void) { self.check = check }

    fileprivate final var isWanted: Bool {
        if isPaused { return false }
        if error != nil { return true }
        do { try check() } catch { self.error = error }
        return error != nil
    }
}

/// The check of the requests of a transaction.
final class InterruptedRequests: InterruptedStatements {
    let interruption: Interruption

    fileprivate init(_ interruption: Interruption) {
        self.interruption = interruption
        super.init { try interruption.check() }
    }
}
