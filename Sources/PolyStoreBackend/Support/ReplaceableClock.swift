/// A clock that tests replace.
package final class ReplaceableClock: Sendable {
    // A struct, because each access to a generic value of a function type would wrap the function once more, for good.
    private struct Source: Sendable {
        let now: @Sendable () -> UInt64
    }

    private let source: Protected<Source>

    /// - Parameter now: Returns the time in nanoseconds.
    package init(_ now: @escaping @Sendable () -> UInt64) { source = Protected(Source(now: now)) }

    /// The time in nanoseconds.
    package var now: UInt64 { source.withLock { $0 }.now() }

    /// Replaces the function that returns the time in nanoseconds.
    package func exchange(_ now: @escaping @Sendable () -> UInt64) { source.exchange(Source(now: now)) }
}
