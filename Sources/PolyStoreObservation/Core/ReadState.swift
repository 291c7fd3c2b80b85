import PolyStoreKernel

/// Whether a list or an object shows the version of its context.
///
/// If reading it fails, it shows its previous state and is read completely with the next move. The error is logged once, until a read succeeds.
struct ReadState {
    /// A Boolean value that indicates whether the last read failed.
    private(set) var isOutdated = false
    /// A Boolean value that indicates whether the failure was logged.
    private var isLogged = false

    /// Reads what a context shows now.
    /// - Parameter message: The beginning of the log message of an error.
    /// - Returns: `nil` if reading fails.
    mutating func read<Result>(_ context: Context, _ message: @autoclosure () -> String, _ body: () throws -> Result) -> Result? {
        do {
            let result = try body()
            self = ReadState()
            return result
        } catch {
            isOutdated = true
            if isLogged {
                context.observers?.hasFailed = true
            } else {
                context.logFailedRead(error, message())
                // The error of a store that is being removed is not logged.
                isLogged = !context.core.isCausedByRemoval(error)
            }
            return nil
        }
    }
}
