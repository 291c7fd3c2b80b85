import Synchronization

/// The end of work before it is complete: a limit of time, a cancellation, or both.
///
/// The layers above assign an interruption to ``RelatedRecords/interruption`` of a transaction before the requests that it concerns. The backend checks it while it executes
/// a request, and throws its error. The transaction remains usable.
///
/// - A request throws at its beginning if the work is already interrupted.
/// - An engine in the process calls ``check()`` before it has examined 10,000 further rows; every 1,000 are usual. Rows that do not satisfy a condition count, and so do
///   entries of indexes.
/// - A server's client sets a timeout of its statement from ``remaining``, and cancels the statement in a handler of ``onCancel(_:)``, which runs on another thread.
/// - Requests for one object are not interrupted, because properties, which cannot throw, use them: `record`, and `related` of one source. Neither are the calls that
///   write or commit.
public final class Interruption: @unchecked Sendable {  // the handlers are accessed under the lock
    /// The limit of time that ends first; nil for none.
    public let timeLimit: Duration?
    /// The moment at which that limit ends; nil for none.
    public let deadline: ContinuousClock.Instant?
    /// The work that this one is a part of.
    private let outer: Interruption?
    private let flag = Atomic(false)
    private var handlers: [ObjectIdentifier: @Sendable () -> Void] = [:]
    /// One for all, because each transaction has an interruption and few have handlers.
    private static let lock = Lock()
    /// Called by each ``check()``, for tests.
    private let observer: (@Sendable (Interruption) -> Void)?

    /// Creates an interruption.
    /// - Parameters:
    ///   - timeLimit: The time from now after which the work is interrupted; nil for no limit. With zero or less it is interrupted already.
    ///   - outer: The work that this one is a part of, and with which it is interrupted.
    public convenience init(timeLimit: Duration? = nil, within outer: Interruption? = nil) {
        self.init(timeLimit: timeLimit, within: outer, observer: nil)
    }

    /// - Parameter observer: Called by each ``check()``.
    package init(timeLimit: Duration? = nil, within outer: Interruption? = nil, observer: (@Sendable (Interruption) -> Void)?) {
        // A limit of centuries would exceed the range of the clock.
        let end = timeLimit.map { ContinuousClock.now + min($0, .seconds(1 << 32)) }
        let isFirst = end.map { end in outer?.deadline.map { end < $0 } ?? true } ?? false
        (self.timeLimit, deadline) = isFirst ? (timeLimit, end) : (outer?.timeLimit, outer?.deadline)
        self.outer = outer
        self.observer = observer ?? outer?.observer
    }

    /// Interrupts the work. Has no effect on a second call, and on work that has ended.
    public func cancel() {
        let called = Self.lock.withLock {
            flag.store(true, ordering: .releasing)
            defer { handlers = [:] }
            return handlers
        }
        for handler in called.values { handler() }
    }

    /// A Boolean value that indicates whether the work was cancelled.
    public var isCancelled: Bool { flag.load(ordering: .acquiring) || outer?.isCancelled ?? false }

    /// The time until the limit ends: zero after it, and nil without a limit.
    public var remaining: Duration? { deadline.map { max(.zero, $0 - .now) } }

    /// The error of interrupted work: `cancelled` or `timedOut`; nil as long as the work may continue.
    public var error: StoreError? {
        if isCancelled { return Self.cancelled }
        guard let deadline, let timeLimit, ContinuousClock.now >= deadline else { return nil }
        return StoreError(.timedOut, "The operation was not complete within its time limit of \(timeLimit); nothing was written.")
    }

    /// The error of work that was cancelled.
    package static var cancelled: StoreError {
        StoreError(.cancelled, "The operation was cancelled before it was complete; nothing was written.")
    }

    /// Checks that the work may continue.
    /// - Throws: `cancelled`, `timedOut`.
    public func check() throws {
        observer?(self)
        if let error { throw error }
    }

    /// Calls a handler once if the work is cancelled, on the thread that cancels it, or immediately if it is cancelled already. The end of the time limit does not call it.
    ///
    /// The handler must not block. One that runs when its registration is released may still be running afterwards, so a handler that cancels a statement of a server must name
    /// it, or check that its connection executes no other one.
    /// - Returns: An object that ends the registration when it is released.
    public func onCancel(_ handler: @escaping @Sendable () -> Void) -> Registration {
        // Inner and outer work can be cancelled one after the other.
        let once = CalledOnce(handler)
        return register { once.call() }
    }

    private final class CalledOnce: Sendable {
        private let isCalled = Atomic(false)
        private let handler: @Sendable () -> Void

        init(_ handler: @escaping @Sendable () -> Void) { self.handler = handler }

        func call() { if !isCalled.exchange(true, ordering: .acquiringAndReleasing) { handler() } }
    }

    private func register(_ handler: @escaping @Sendable () -> Void) -> Registration {
        let registration = Registration(self, outer?.register(handler))
        let isCancelled = Self.lock.withLock {
            if flag.load(ordering: .acquiring) { return true }
            handlers[ObjectIdentifier(registration)] = handler
            return false
        }
        if isCancelled { handler() }
        return registration
    }

    private func remove(_ registration: ObjectIdentifier) {
        // Released after the lock.
        let handler = Self.lock.withLock { handlers.removeValue(forKey: registration) }
        withExtendedLifetime(handler) {}
    }

    /// A handler of cancellations, which is called until this object is released.
    public final class Registration: Sendable {
        private let interruption: Interruption
        private let outer: Registration?

        fileprivate init(_ interruption: Interruption, _ outer: Registration?) { (self.interruption, self.outer) = (interruption, outer) }

        deinit { interruption.remove(ObjectIdentifier(self)) }
    }
}
