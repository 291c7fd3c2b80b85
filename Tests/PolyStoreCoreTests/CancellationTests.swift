import Dispatch
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Tasks that are cancelled while their transaction is queued, running or being committed.
@Suite struct CancellationTests {
    /// A transaction that occupies the write queue until it is opened.
    private final class Gate: Sendable {
        let entered = DispatchSemaphore(value: 0)
        let opened = DispatchSemaphore(value: 0)

        func hold(_ stack: DataStack) {
            stack.beginAsynchronous { [self] _ in
                entered.signal()
                opened.wait()
            }
            entered.wait()
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func inLine(_ backend: Backend) async throws {
        let company = try Company(backend)
        let (stack, gate) = (company.stack, Gate())
        gate.hold(stack)
        let task = Task { try await stack.perform { try $0.create(Into<Person>()).email = "never" } }
        while stack.queuedTransactionCount == 0 { await Task.yield() }
        task.cancel()
        // The task ends although the write queue is still occupied.
        await expectCancelled { try await task.value }
        #expect(stack.queuedTransactionCount == 0)
        gate.opened.signal()
        try await stack.perform { _ in }
        #expect(try company.count() == 0)
    }

    /// The queue releases the closure of a finished transaction, also if the last queued transaction is cancelled instead of run. The closure retains the stack.
    @Test(arguments: Backend.forObjectLayer)
    func finishedTransactionsAreReleased(_ backend: Backend) async throws {
        final class Token: Sendable {}
        let company = try Company(backend)
        let (stack, gate) = (company.stack, Gate())
        let (entered, opened) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        // Both transactions below are in the queue before the first of them runs.
        gate.hold(stack)
        weak var token: Token?
        do {
            let held = Token()
            token = held
            stack.beginAsynchronous { _ in
                withExtendedLifetime(held) {}
                entered.signal()
                opened.wait()
            }
        }
        let task = Task { try await stack.perform { _ in } }
        while stack.queuedTransactionCount < 2 { await Task.yield() }
        gate.opened.signal()
        await wait(entered)
        task.cancel()
        await expectCancelled { try await task.value }
        opened.signal()
        for _ in 0..<10_000 where token != nil { try await Task.sleep(for: .milliseconds(1)) }
        #expect(token == nil)
    }

    @Test(arguments: Backend.forObjectLayer)
    func beforeItIsAskedFor(_ backend: Backend) async throws {
        let company = try Company(backend)
        let stack = company.stack
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await stack.perform { try $0.create(Into<Person>()).email = "never" }
        }
        task.cancel()
        await expectCancelled { try await task.value }
        #expect(try company.count() == 0)
    }

    @Test(arguments: Backend.forObjectLayer)
    func inTheBody(_ backend: Backend) async throws {
        let company = try Company(backend)
        let (stack, entered, cancelled) = (company.stack, DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let task = Task {
            try await stack.perform { transaction in
                try transaction.create(Into<Person>()).email = "never"
                #expect(!transaction.isCancelled)
                try transaction.checkCancellation()
                entered.signal()
                cancelled.wait()
                #expect(transaction.isCancelled)
            }
        }
        await wait(entered)
        task.cancel()
        cancelled.signal()
        await expectCancelled { try await task.value }
        #expect(try company.count() == 0)
    }

    @Test(arguments: Backend.allCases)
    func afterTheCommitPoint(_ backend: Backend) async throws {
        let company = try Company(backend)
        let (stack, gate) = (company.stack, Gate())
        gate.hold(stack)
        // Both are committed as one group, so the first has left its body while it waits for the commit.
        let (entered, opened) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let first = Task { try await stack.perform { try $0.create(Into<Person>()).email = "kept" } }
        while stack.queuedTransactionCount < 1 { await Task.yield() }
        let second = Task {
            try await stack.perform { transaction in
                entered.signal()
                opened.wait()
                try transaction.create(Into<Person>()).email = "kept too"
            }
        }
        while stack.queuedTransactionCount < 2 { await Task.yield() }
        gate.opened.signal()
        await wait(entered)
        first.cancel()
        opened.signal()
        try await first.value
        try await second.value
        #expect(try company.count() == 2)
    }

    @Test(arguments: Backend.forObjectLayer)
    func otherQueuedTransactionsAreUnaffected(_ backend: Backend) async throws {
        let company = try Company(backend)
        let (stack, gate) = (company.stack, Gate())
        gate.hold(stack)
        let tasks = (0..<20).map { number in
            Task { try await stack.perform { try $0.create(Into<Person>()).email = "\(number)" } }
        }
        while stack.queuedTransactionCount < 20 { await Task.yield() }
        for task in tasks.enumerated() where task.offset % 2 == 0 { task.element.cancel() }
        gate.opened.signal()
        var kept = 0
        for task in tasks { if (try? await task.value) != nil { kept += 1 } }
        #expect(kept == 10)
        #expect(try company.count() == 10)
    }

    @Test func batchesStopToo() async throws {
        let company = try Company(.memory)
        let (stack, entered, cancelled) = (company.stack, DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let task = Task {
            try await stack.performBatch { batch in
                try batch.create(Into<Person>()).email = "kept"
                try batch.commit()
                try batch.create(Into<Person>()).email = "never"
                entered.signal()
                cancelled.wait()
            }
        }
        await wait(entered)
        task.cancel()
        cancelled.signal()
        await expectCancelled { try await task.value }
        #expect(try company.count() == 1)
    }

    private func wait(_ semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                semaphore.wait()
                continuation.resume()
            }
        }
    }

    private func expectCancelled(_ body: () async throws -> Void) async {
        do {
            try await body()
            Issue.record("it was not cancelled")
        } catch {
            #expect((error as? StoreError)?.code == .cancelled, "\(error)")
        }
    }
}
