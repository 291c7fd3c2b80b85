import Dispatch
import Foundation
import PolyStoreBackend
import PolyStoreConditions
import PolyStoreCore
import PolyStoreFormats
import TestModels
import TestSupport
import Testing

/// Reads on the threads of a stack. The tests wait for events, never for a time.
@Suite struct ConcurrentReadTests {
    @Test(arguments: Backend.forObjectLayer)
    func readsUpToTheLimitRunAtOnce(_ backend: Backend) async throws {
        let company = try Company(backend)
        try company.people(1)
        let stack = company.stack
        #expect(stack.statistics.maximumConcurrentReads == 64)
        let count = stack.maximumConcurrentReads
        let (began, ended) = (Barrier(count), Barrier(count))
        let found = try await withThrowingTaskGroup(of: StackStatistics.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await stack.read { context throws in
                        #expect(try context.fetchCount(From<Person>()) == 1)
                        began.wait()
                        let statistics = stack.statistics
                        ended.wait()
                        return statistics
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(found.allSatisfy { $0.runningReads == count && $0.waitingReads == 0 })
        #expect(stack.statistics.runningReads == 0)
    }

    @Test func readsBeyondTheLimitWaitInOrder() async throws {
        let company = try Company(.memory)
        let stack = company.stack
        stack.maximumConcurrentReads = 1
        let holder = await Holder(stack)
        let order = Protected<[Int]>([])
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<20 {
            tasks.append(Task { try await stack.read { _ in order.withLock { $0.append(number) } } })
            await Self.waiting(number + 1, stack)
        }
        #expect(order.withLock { $0 }.isEmpty)
        #expect(stack.statistics.runningReads == 1)
        #expect("\(stack.statistics)" == "1 of 1 reads running, 20 waiting")
        try await holder.release()
        for task in tasks { try await task.value }
        #expect(order.withLock { $0 } == Array(0..<20))
        #expect((stack.statistics.runningReads, stack.statistics.waitingReads) == (0, 0))
    }

    @Test func aHigherLimitStartsWaitingReads() async throws {
        let company = try Company(.memory)
        let stack = company.stack
        stack.maximumConcurrentReads = -5
        #expect(stack.maximumConcurrentReads == 1)
        let holder = await Holder(stack)
        let task = Task { try await stack.read { _ in 7 } }
        await Self.waiting(1, stack)
        stack.maximumConcurrentReads = 2
        #expect(try await task.value == 7)
        // A lower limit applies when the running reads have ended.
        stack.maximumConcurrentReads = 1
        let last = Task { try await stack.read { _ in 8 } }
        await Self.waiting(1, stack)
        try await holder.release()
        #expect(try await last.value == 8)
    }

    /// The outer read blocks a thread until the inner one has ended, so the inner one must not wait for a free one.
    @Test func nestedReadsDoNotWait() async throws {
        let company = try Company(.memory)
        try company.people(3)
        let stack = company.stack
        stack.maximumConcurrentReads = 1
        @Sendable func nested(_ depth: Int) async throws -> Int {
            try await stack.read { context in
                let count = try context.fetchCount(From<Person>())
                return depth == 0 ? count : count + (try Self.blocking { try await nested(depth - 1) })
            }
        }
        #expect(try await nested(4) == 15)
        let folder = try Folder()
        let report = try await stack.read { _ in
            try Self.blocking { try await Self.export(stack, folder) }
        }
        #expect(report == 3)
        // A task that outlives the read that started it waits like others.
        let (task, gate) = try await stack.read { _ in
            let gate = Gate()
            return (
                Task {
                    await gate.wait()
                    return try await stack.read { _ in 1 }
                }, gate
            )
        }
        let holder = await Holder(stack)
        gate.open()
        await Self.waiting(1, stack)
        try await holder.release()
        #expect(try await task.value == 1)
    }

    @Test func aCancelledReadStopsWaiting() async throws {
        let company = try Company(.memory, expectsSilence: false)
        let stack = company.stack
        stack.maximumConcurrentReads = 1
        let holder = await Holder(stack)
        let hasRun = Protected(false)
        let cancelled = Task { try await stack.read { _ in hasRun.withLock { $0 = true } } }
        await Self.waiting(1, stack)
        let next = Task { try await stack.read { _ in 2 } }
        await Self.waiting(2, stack)
        cancelled.cancel()
        await Self.expectCancelled { try await cancelled.value }
        #expect(stack.statistics.waitingReads == 1)
        let history = Task { try await stack.history() }
        await Self.waiting(2, stack)
        history.cancel()
        await Self.expectCancelled { _ = try await history.value }
        let folder = try Folder()
        let export = stack.startExport(From<Person>(), to: .file(path: folder.file("people.json")))
        await Self.waiting(2, stack)
        export.cancel()
        await Self.expectCancelled { _ = try await export.value }
        #expect(folder.names == [])
        let early = Task {
            while !Task.isCancelled { await Task.yield() }
            try await stack.read { _ in hasRun.withLock { $0 = true } }
        }
        early.cancel()
        await Self.expectCancelled { try await early.value }
        try await holder.release()
        #expect(try await next.value == 2)
        #expect(!hasRun.withLock { $0 })
        #expect(company.logger.lines.allSatisfy { $0.contains("cancelled") })
    }

    /// Every form that runs on the threads of the stack waits for its turn.
    @Test(arguments: Backend.forObjectLayer)
    func allFormsWaitForTheirTurn(_ backend: Backend) async throws {
        let company = try Company(backend, expectsSilence: false)
        try company.people(3)
        let (stack, folder) = (company.stack, try Folder())
        stack.maximumConcurrentReads = 1
        let holder = await Holder(stack)
        let values = stack.values(of: From<Person>(), .count(\.age))
        let forms: [@Sendable () async throws -> Int] = [
            { try await stack.read { try $0.fetchCount(From<Person>()) } },
            { try await Self.export(stack, folder) },
            { @MainActor in try await stack.view.loadListMonitor(From<Person>().orderBy(.ascending(\.age))).count },
            { try await Self.first(of: values) },
        ]
        var tasks: [Task<Int, any Error>] = []
        for form in forms {
            tasks.append(Task { try await form() })
            await Self.waiting(tasks.count, stack)
        }
        let history = Task { try await stack.history() }
        await Self.waiting(forms.count + 1, stack)
        let token = Task { try await stack.historyToken() }
        await Self.waiting(forms.count + 2, stack)
        // The forms that block the caller's thread do not wait.
        #expect(try stack.readAndWait { try $0.fetchCount(From<Person>()) } == 3)
        try await holder.release()
        for task in tasks { #expect(try await task.value == 3) }
        _ = await (history.result, token.result)
        #expect((stack.statistics.runningReads, stack.statistics.waitingReads) == (0, 0))
    }

    /// Batches have threads of their own, with the same limit.
    @Test func batchesRunAtOnce() async throws {
        let company = try Company(.memory)
        let (stack, count) = (company.stack, 64)
        let began = Barrier(count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask {
                    try await stack.performBatch { batch in
                        _ = try batch.createPerson(number)
                        began.wait()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try stack.readAndWait { try $0.fetchCount(From<Person>()) } == count)
    }

    // MARK: Helpers

    private static func first(of values: ValueSequence<Int>) async throws -> Int {
        for try await value in values { return value }
        return 0
    }

    private static func export(_ stack: DataStack, _ folder: Folder) async throws -> Int {
        let destination = ExportDestination.file(path: folder.file("people.json"))
        return try await stack.export(From<Person>(), to: destination, options: ExportOptions(fields: [\.age])).objects
    }

    /// Waits until a number of reads wait for their turn.
    private static func waiting(_ count: Int, _ stack: DataStack) async {
        while stack.statistics.waitingReads != count { await Task.yield() }
    }

    /// Runs asynchronous work while the caller's thread is blocked.
    private static func blocking<T: Sendable>(_ work: @escaping @Sendable () async throws -> T) throws -> T {
        let (done, result) = (DispatchSemaphore(value: 0), Protected<Result<T, any Error>?>(nil))
        Task {
            do {
                let value = try await work()
                result.withLock { $0 = .success(value) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
            done.signal()
        }
        done.wait()
        return try #require(result.withLock { $0 }).get()
    }

    private static func expectCancelled(_ body: () async throws -> Void) async {
        do {
            try await body()
            Issue.record("it was not cancelled")
        } catch {
            #expect((error as? StoreError)?.code == .cancelled, "\(error)")
        }
    }

    /// A read that runs until it is released.
    private struct Holder {
        private let gate = DispatchSemaphore(value: 0)
        private let task: Task<Void, any Error>

        init(_ stack: DataStack) async {
            let (gate, began) = (gate, Gate())
            task = Task {
                try await stack.read { _ in
                    began.open()
                    gate.wait()
                }
            }
            await began.wait()
        }

        func release() async throws {
            gate.signal()
            try await task.value
        }
    }

    /// A gate that tasks wait for without blocking a thread.
    private final class Gate: Sendable {
        private let isOpen = Protected(false)
        func open() { isOpen.withLock { $0 = true } }
        func wait() async { while !isOpen.withLock({ $0 }) { await Task.yield() } }
    }

    /// Blocks threads until a number of them have arrived.
    private final class Barrier: @unchecked Sendable {  // accessed under the condition's lock
        private let condition = NSCondition()
        private var missing: Int

        init(_ count: Int) { missing = count }

        func wait() {
            condition.lock()
            defer { condition.unlock() }
            missing -= 1
            if missing == 0 { condition.broadcast() }
            while missing > 0 { condition.wait() }
        }
    }
}
