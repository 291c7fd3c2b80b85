import Dispatch
import PolyStoreBackend
import PolyStorePlatform
import Synchronization

/// Threads for work that may block, such as calls of a backend. Runs a limited number of work items concurrently; the others wait in FIFO order.
///
/// A concurrent dispatch queue runs only as many items as there are cores, also while all of them are blocked.
///
/// Work that other work of such threads starts is nested: it does not wait, because the outer work may wait for it.
package final class BlockingThreads: @unchecked Sendable {  // all mutable state is accessed under the lock
    /// The default of ``limit``.
    static let defaultLimit = 64
    /// The time in milliseconds after which a thread without work ends.
    private static let idleTime = 5_000

    /// The numbers of work items.
    package struct Counts {
        package var running: Int
        package var waiting: Int
        package var limit: Int
    }

    package typealias Work = @Sendable () -> (@Sendable () -> Void)

    /// One piece of work.
    package final class Item: @unchecked Sendable {  // accessed under the lock of the threads
        fileprivate enum Phase {
            case created, waiting, ready, begun, cancelled
        }

        fileprivate var phase = Phase.created
        fileprivate var isNested = false
        /// Executes the work and returns what delivers its result, which is called when the item no longer counts as running.
        fileprivate var work: Work?
        fileprivate var onCancel: (@Sendable () -> Void)?

        package init() {}
    }

    /// Marks the tasks and work that running work starts.
    private final class Nesting: Sendable {
        let isRunning = Atomic(true)
        @TaskLocal static var current: Nesting?

        /// A Boolean value that indicates whether the caller was started by work that is still running.
        static var isCallerNested: Bool { current?.isRunning.load(ordering: .acquiring) ?? false }
    }

    private let lock = Lock()
    private var currentLimit = BlockingThreads.defaultLimit
    /// The items that wait for their turn, in FIFO order.
    private var waiting: [Item] = []
    /// The items that a thread is to begin, in FIFO order.
    private var ready: [Item] = []
    /// The number of items that are ready or running, without nested ones.
    private var admitted = 0
    /// The number of items that are running.
    private var running = 0
    private var idleThreads = 0
    private var isFinished = false

    package init() {}

    /// The maximum number of items that run concurrently, without nested ones; at least 1.
    package var limit: Int {
        get { lock.withLock { currentLimit } }
        set {
            let needed = lock.withLock {
                currentLimit = max(1, newValue)
                return admit()
            }
            startThreads(needed)
        }
    }

    /// The current numbers. An item that a thread is about to begin counts as running.
    package var counts: Counts { lock.withLock { Counts(running: running + ready.count, waiting: waiting.count, limit: currentLimit) } }

    /// Ends the idle threads. Items are still executed.
    package func finish() {
        lock.withLock {
            isFinished = true
            lock.broadcast()
        }
    }

    // MARK: Work

    /// Runs work on one of the threads.
    package func run(_ work: @escaping @Sendable () -> Void) {
        submit(Item()) {
            work()
            return {}
        } onCancel: {
        }
    }

    /// Runs work on one of the threads and awaits its result. The calling task does not block one of Swift's cooperative threads.
    package func awaiting<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            submit(Item()) {
                let result = Result { try work() }
                return { continuation.resume(with: result) }
            } onCancel: {
            }
        }
    }

    /// Runs work on one of the threads and awaits its result.
    /// - Parameter interruption: Cancelled with the calling task. Work that has begun checks it.
    /// - Throws: `cancelled` or `timedOut` if the work is interrupted before it begins.
    package func awaiting<T: Sendable>(_ interruption: Interruption, _ work: @escaping @Sendable () throws -> T) async throws -> T {
        let item = Item()
        let timer = interruption.atDeadline { [self] in cancel(item) }
        defer { withExtendedLifetime(timer) {} }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                submit(item) {
                    let result = Result { try work() }
                    return { continuation.resume(with: result) }
                } onCancel: {
                    let cancelled = StoreError(.cancelled, "The task was cancelled before its read began; nothing was read.")
                    continuation.resume(throwing: interruption.isCancelled ? cancelled : interruption.error ?? cancelled)
                }
            }
        } onCancel: {
            interruption.cancel()
            cancel(item)
        }
    }

    /// Appends an item to the queue. An item that is already cancelled is not run.
    /// - Parameter onCancel: Called instead of the work if the item is cancelled before it begins.
    package func submit(_ item: Item, _ work: @escaping Work, onCancel: @escaping @Sendable () -> Void) {
        let isNested = Nesting.isCallerNested
        let needed: Int? = lock.withLock {
            if item.phase == .cancelled { return nil }
            (item.work, item.onCancel, item.isNested) = (work, onCancel, isNested)
            if isNested {
                item.phase = .ready
                ready.append(item)
                return wakeThreads(1)
            }
            item.phase = .waiting
            waiting.append(item)
            return admit()
        }
        if let needed { startThreads(needed) } else { onCancel() }
    }

    /// Cancels an item that has not begun. It has no effect on others.
    package func cancel(_ item: Item) {
        // The work is released after the lock too.
        let (work, onCancel, needed): (Work?, (@Sendable () -> Void)?, Int) = lock.withLock {
            defer { if item.phase != .begun { item.phase = .cancelled } }
            switch item.phase {
            case .created, .begun, .cancelled: return (nil, nil, 0)
            case .waiting: waiting.removeAll { $0 === item }
            case .ready:
                ready.removeAll { $0 === item }
                if !item.isNested { admitted -= 1 }
            }
            defer { (item.work, item.onCancel) = (nil, nil) }
            return (item.work, item.onCancel, admit())
        }
        onCancel?()
        withExtendedLifetime(work) {}
        startThreads(needed)
    }

    // MARK: Threads

    /// Makes waiting items ready as far as the limit permits. Call it with the lock held.
    /// - Parameter isCallerFree: Whether the calling thread executes one of them.
    /// - Returns: The number of threads to start.
    private func admit(isCallerFree: Bool = false) -> Int {
        let count = min(waiting.count, max(0, currentLimit - admitted))
        guard count > 0 else { return 0 }
        for item in waiting[..<count] { item.phase = .ready }
        ready += waiting[..<count]
        waiting.removeFirst(count)
        admitted += count
        return wakeThreads(isCallerFree ? count - 1 : count)
    }

    /// Wakes idle threads for new ready items. Call it with the lock held.
    /// - Returns: The number of threads to start.
    private func wakeThreads(_ count: Int) -> Int {
        // Idle threads that were woken for earlier items count as idle until they run.
        let free = max(0, idleThreads - (ready.count - count))
        for _ in 0..<min(free, count) { lock.signal() }
        return count - min(free, count)
    }

    private func startThreads(_ count: Int) { for _ in 0..<count { startThread() } }

    private func startThread() {
        let context = Unmanaged.passRetained(self).toOpaque()
        #if canImport(Darwin)
            var thread: pthread_t?
            let code = pthread_create(&thread, nil, { BlockingThreads.runThread($0) }, context)
        #else
            var thread = pthread_t()
            let code = pthread_create(&thread, nil, { $0.flatMap { BlockingThreads.runThread($0) } }, context)
        #endif
        guard code == 0 else {
            // The process has reached its limit of threads. The queue has threads already, or obtains one later.
            Unmanaged<BlockingThreads>.fromOpaque(context).release()
            return DispatchQueue.global().async { [self] in work() }
        }
        #if canImport(Darwin)
            if let thread { pthread_detach(thread) }
        #else
            pthread_detach(thread)
        #endif
    }

    private static func runThread(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        blockSignals()
        Unmanaged<BlockingThreads>.fromOpaque(context).takeRetainedValue().work()
        return nil
    }

    /// Leaves the signals of the process to its other threads, as the threads of dispatch queues do. Signals of faults remain.
    private static func blockSignals() {
        var signals = sigset_t()
        sigfillset(&signals)
        for signal in [SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV, SIGSYS, SIGPROF] { sigdelset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Executes ready items until none arrives for some time.
    private func work() {
        while let (item, work) = next() {
            let nesting = Nesting()
            let deliver = Nesting.$current.withValue(nesting) { Self.withPool(work) }
            nesting.isRunning.store(false, ordering: .releasing)
            let needed = lock.withLock {
                running -= 1
                if !item.isNested { admitted -= 1 }
                return admit(isCallerFree: true)
            }
            startThreads(needed)
            Self.withPool(deliver)
        }
    }

    private static func withPool<Result>(_ work: () -> Result) -> Result {
        #if canImport(ObjectiveC)
            autoreleasepool(invoking: work)
        #else
            work()
        #endif
    }

    /// Waits for the next ready item.
    /// - Returns: `nil` if the thread should end.
    private func next() -> (Item, Work)? {
        lock.withLock {
            let deadline = Deadline(milliseconds: Self.idleTime)
            while true {
                if !ready.isEmpty {
                    let item = ready.removeFirst()
                    guard let work = item.work else { continue }
                    item.phase = .begun
                    (item.work, item.onCancel) = (nil, nil)
                    running += 1
                    return (item, work)
                }
                guard !isFinished, !deadline.isPast else { return nil }
                idleThreads += 1
                _ = lock.wait(until: deadline)
                idleThreads -= 1
            }
        }
    }
}
