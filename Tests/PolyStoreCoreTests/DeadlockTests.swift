import Dispatch
import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Combinations of transactions that could wait for each other forever.
@Suite struct DeadlockTests {
    @Test(arguments: Backend.allCases)
    @MainActor
    func synchronousOnesOnTheMainActorBehindPendingOnes(_ backend: Backend) async throws {
        let company = try Company(backend)
        let stack = company.stack
        #expect(try stack.view.fetchCount(From<Person>()) == 0)
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<20 {
            // Each resumes on the main actor, which the synchronous transactions block.
            tasks.append(Task { @MainActor in try await stack.perform { try $0.create(Into<Person>()).email = "a \(number)" } })
            stack.beginAsynchronous { transaction in
                try transaction.create(Into<Person>()).email = "b \(number)"
                transaction.commit { _ in }
            }
            try holdUp(stack, number)
        }
        for task in tasks { try await task.value }
        try await stack.saveAll()
        #expect(try stack.view.fetchCount(From<Person>()) == 80)
    }

    /// Waits synchronously.
    @MainActor
    private func holdUp(_ stack: DataStack, _ number: Int) throws {
        try stack.performAndWait { try $0.create(Into<Person>()).email = "c \(number)" }
        let draft = stack.beginUnsafe()
        try draft.create(Into<Person>()).email = "d \(number)"
        try draft.commit()
    }

    @Test(arguments: Backend.allCases)
    func everyKindInsideABodyIsRefused(_ backend: Backend) throws {
        let company = try Company(backend)
        let stack = company.stack
        let steps = stack.beginTransaction()
        try company.stack.performAndWait { transaction throws in
            expectError(.misuse) { try stack.performAndWait { _ in } }
            expectError(.misuse) { try stack.beginSynchronous { _ in } }
            expectError(.misuse) { try stack.saveAllAndWait() }
            let draft = stack.beginUnsafe()
            expectError(.misuse) { try draft.create(Into<Person>()) }
            // Reading does not wait, and is allowed.
            #expect(try stack.readAndWait { try $0.fetchCount(From<Person>()) } == 0)
            stack.beginAsynchronous { transaction in
                try transaction.create(Into<Person>()).email = "later"
                transaction.commit()
            }
            steps.perform { _ in }
            try transaction.create(Into<Person>()).email = "now"
        }
        try stack.performAndWait { _ in }
        #expect(try company.count() == 2)
    }

    @Test func twoStacksInEachOthersTransactions() throws {
        let (first, second) = (try Company(.memory), try Company(.memory))
        let stacks = [first.stack, second.stack]
        let (both, done) = (DispatchSemaphore(value: 0), DispatchGroup())
        let outcomes = Outcomes()
        for number in 0..<2 {
            done.enter()
            let (outer, inner) = (stacks[number], stacks[1 - number])
            Thread.detachNewThread {
                outcomes.add {
                    try outer.performAndWait { transaction throws in
                        try transaction.create(Into<Person>()).email = "outer \(number)"
                        both.signal()
                        outcomes.waitForBoth(both)
                        try inner.performAndWait { try $0.create(Into<Person>()).email = "inner \(number)" }
                    }
                }
                done.leave()
            }
        }
        // Generous enough that only a hang exceeds it.
        #expect(done.wait(timeout: .now() + 1800) == .success)
        // One of them was refused, so that the other could continue.
        #expect(outcomes.codes.count == 1 && outcomes.codes.first == .misuse)
        #expect(try first.count() + second.count() == 2)
        #expect(try first.count() == 1)
    }

    private final class Outcomes: @unchecked Sendable {  // accessed under the lock only
        private let lock = NSLock()
        private var failures: [StoreError.Code] = []
        private let second = DispatchSemaphore(value: 0)
        private var arrived = 0

        func add(_ body: () throws -> Void) {
            do { try body() } catch {
                lock.withLock { failures.append((error as? StoreError)?.code ?? .io) }
            }
        }

        /// Returns when both transactions have called it.
        func waitForBoth(_ semaphore: DispatchSemaphore) {
            let isLast = lock.withLock {
                arrived += 1
                return arrived == 2
            }
            if isLast { second.signal() } else { second.wait() }
        }

        var codes: [StoreError.Code] { lock.withLock { failures } }
    }

    @Test func stepsInsideStepsAreRefused() throws {
        let company = try Company(.memory)
        let (stack, steps) = (company.stack, company.stack.beginTransaction())
        try steps.performAndWait { step in
            expectError(.misuse) { try steps.performAndWait { _ in } }
            expectError(.misuse) { try stack.saveAllAndWait() }
            try stack.performAndWait { try $0.create(Into<Person>()).email = "queued" }
            try step.create(Into<Person>()).email = "step"
            try step.commit()
        }
        #expect(try company.count() == 2)
    }

    /// A step waits for the write queue while the queue's owner waits for the step.
    @Test func stepsAndTheWriteQueue() async throws {
        let company = try Company(.memory)
        let (stack, steps) = (company.stack, company.stack.beginTransaction())
        let (inLine, inStep) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let step: StoreError.Code? = {
            do {
                try await steps.perform { step in
                    inStep.signal()
                    inLine.wait()
                    try step.create(Into<Person>()).email = "step"
                    try step.commit()
                }
                return nil
            } catch { return (error as? StoreError)?.code }
        }()
        async let line: StoreError.Code? = {
            do {
                try await stack.perform { transaction in
                    inStep.wait()
                    inLine.signal()
                    try steps.performAndWait { _ in }
                    try transaction.create(Into<Person>()).email = "line"
                }
                return nil
            } catch { return (error as? StoreError)?.code }
        }()
        let codes = await [step, line]
        #expect(codes.filter { $0 == .misuse }.count == 1 && codes.filter { $0 == nil }.count == 1)
        #expect(try company.count() == 1)
    }

    /// However many threads wait for the write queue, its owner has a thread to continue on.
    @Test func moreTransactionsInStepsThanThreads() async throws {
        let company = try Company(.memory)
        let stack = company.stack
        let (entered, opened) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        stack.beginAsynchronous { _ in
            entered.signal()
            opened.wait()
        }
        entered.wait()
        stack.beginAsynchronous { transaction in
            try transaction.create(Into<Department>()).title = "queued"
            transaction.commit()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<600 {
                let steps = stack.beginTransaction()
                group.addTask {
                    try await steps.perform { step in
                        try step.create(Into<Person>()).email = "\(number)"
                        try step.commit()
                    }
                }
            }
            try await Task.sleep(nanoseconds: 300_000_000)
            opened.signal()
            try await group.waitForAll()
        }
        #expect(try company.count() == 600)
    }

    @Test func oneStackInsideAnotherIsAllowed() throws {
        let (first, second) = (try Company(.memory), try Company(.sqlite))
        let inner = second.stack
        for _ in 0..<20 {
            try first.stack.performAndWait { _ in try inner.performAndWait { _ in } }
        }
    }
}
