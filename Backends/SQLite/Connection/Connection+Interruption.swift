import CSQLite
import PolyStoreBackend

extension Connection {
    /// The number of SQLite's instructions between two calls of a check: a few milliseconds.
    private static let instructionsPerCheck: Int32 = 100_000

    /// Runs statements that take long, and calls a check regularly while SQLite executes them. An error that the check throws interrupts them.
    /// - Throws: The error of the check, and errors of the work.
    func interruptible(by check: () throws -> Void, during work: () throws -> Void) throws {
        try withoutActuallyEscaping(check) { check in
            let interruption = Interruption(check)
            // Before the first statement, so that an operation that is already cancelled does not begin.
            try check()
            sqlite3_progress_handler(
                handle, Self.instructionsPerCheck,
                { pointer in
                    guard let pointer else { return 0 }
                    return Unmanaged<Interruption>.fromOpaque(pointer).takeUnretainedValue().isWanted ? 1 : 0
                }, Unmanaged.passUnretained(interruption).toOpaque())
            defer { sqlite3_progress_handler(handle, 0, nil, nil) }
            do { try work() } catch { throw interruption.error ?? error }
            if let error = interruption.error { throw error }
        }
    }
}

/// A check that SQLite calls while it executes a statement.
private final class Interruption {
    private let check: () throws -> Void
    /// The error that the check threw.
    private(set) var error: (any Error)?

    init(_ check: @escaping () throws -> Void) { self.check = check }

    var isWanted: Bool {
        if error != nil { return true }
        do { try check() } catch { self.error = error }
        return error != nil
    }
}
