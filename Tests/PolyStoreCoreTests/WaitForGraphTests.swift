import Foundation
import PolyStoreBackend
import PolyStoreRuns
import Testing

@testable import PolyStoreKernel

/// The wait-for graph alone. The threads take turns, so that no outcome depends on their speed.
@Suite struct WaitForGraphTests {
    /// A resource whose owner is set by the test. After 100 calls it reports no owner, so that an endless search ends.
    private final class Resource: AwaitedResource, @unchecked Sendable {  // accessed under the lock only
        private let lock = NSLock()
        private var thread: UInt = 0
        private var calls = 0

        func belong(to thread: UInt) { lock.withLock { self.thread = thread } }
        var ownerCallCount: Int { lock.withLock { calls } }
        var owner: UInt {
            lock.withLock {
                calls += 1
                return calls > 100 ? 0 : thread
            }
        }
    }

    /// Runs closures one after another on a thread of its own, which exists as long as this object.
    private final class Worker: Sendable {
        private let (wanted, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        private let work = Protected<(@Sendable () -> Void)?>(nil)

        init() {
            Thread.detachNewThread { [wanted, done, work] in
                while true {
                    wanted.wait()
                    guard let next = work.withLock({ $0 }) else { return }
                    next()
                    done.signal()
                }
            }
        }

        deinit {
            work.withLock { $0 = nil }
            wanted.signal()
        }

        func run(_ body: @escaping @Sendable () -> Void) {
            work.withLock { $0 = body }
            wanted.signal()
            done.wait()
        }

        var threadNumber: UInt {
            let number = Protected<UInt>(0)
            run { number.withLock { $0 = currentThreadNumber() } }
            return number.withLock { $0 }
        }
    }

    private func begin(_ graph: WaitForGraph, _ worker: Worker, _ resource: Resource) -> StoreError.Code? {
        let code = Protected<StoreError.Code?>(nil)
        worker.run {
            do { try graph.beginWaiting(for: resource) } catch { code.withLock { $0 = (error as? StoreError)?.code } }
        }
        return code.withLock { $0 }
    }

    /// A transaction that has got its turn owns the resource, and is registered as waiting for it until it removes itself.
    @Test(arguments: 1...3)
    func waitOfThreadThatOwnsItsResourceIsNotACycle(_ length: Int) {
        let graph = WaitForGraph()
        let workers = (0..<length).map { _ in Worker() }
        let resources = (0..<length).map { _ in Resource() }
        for (worker, resource) in zip(workers, resources) { #expect(begin(graph, worker, resource) == nil) }
        // Each thread has the resource that the one before it is registered for.
        for (number, resource) in resources.enumerated() { resource.belong(to: workers[(number + 1) % length].threadNumber) }
        let (other, wanted) = (Worker(), Resource())
        wanted.belong(to: workers[0].threadNumber)
        #expect(begin(graph, other, wanted) == nil)
        #expect(resources.allSatisfy { $0.ownerCallCount < 10 })
    }

    @Test(arguments: 1...4)
    func waitThatClosesACycleIsRefused(_ length: Int) {
        let graph = WaitForGraph()
        let workers = (0..<length).map { _ in Worker() }
        let resources = (0..<length).map { _ in Resource() }
        for (worker, resource) in zip(workers, resources) { resource.belong(to: worker.threadNumber) }
        for number in 0..<length - 1 { #expect(begin(graph, workers[number], resources[number + 1]) == nil) }
        #expect(begin(graph, workers[length - 1], resources[0]) == .misuse)
        // The refused wait is not registered, and the others continue.
        workers.last?.run { graph.endWaiting() }
        for number in 0..<length - 1 { workers[number].run { graph.endWaiting() } }
        #expect(begin(graph, workers[length - 1], resources[0]) == (length == 1 ? .misuse : nil))
    }
}
