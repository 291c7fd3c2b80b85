import Dispatch
import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreRuns
import TestModels
import TestSupport
import Testing

/// Queued transactions are committed as a group.
@Suite struct GroupCommitTests {
    /// A stack whose commits are counted.
    private struct Counted: Sendable {
        let faults = Faults()
        let stack: DataStack
        let store: PersistentStore
        private let folder: Folder

        init(_ backend: Backend, durability: Durability = .full) throws {
            folder = try Folder()
            stack = try DataStack(companySchema)
            store = try stack.addStore(backend.store(in: folder).durability(durability).wrapped(faults))
            // Independent of the speed of the machine.
            stack.groupLimits.nanoseconds = .max
        }

        var emails: [String] { get throws { try stack.readAndWait { try $0.fetchAll(From<Person>()).map(\.email) } } }
    }

    /// A stack of two stores with the same entities, and the faults of the first one.
    private struct Split: Sendable {
        let faults = Faults()
        let stack: DataStack
        private let folder: Folder

        init(_ backend: Backend) throws {
            folder = try Folder()
            let models: [any Model.Type] = [Person.self, Department.self, Project.self]
            stack = try DataStack(Schema("Split", models, configurations: ["A": models, "B": models]))
            stack.groupLimits.nanoseconds = .max
            try stack.addStore(backend.store(in: folder, "a").wrapped(faults), configuration: "A")
            try stack.addStore(backend.store(in: folder, "b"), configuration: "B")
        }

        /// Returns another stack over the first store.
        func stackOverTheFirst(_ backend: Backend) throws -> DataStack {
            let other = try DataStack(stack.schema)
            try other.addStore(backend.store(in: folder, "a"), configuration: "A")
            return other
        }

        static func creating(_ email: String, _ stores: String...) -> @Sendable (Transaction) throws -> Void {
            { transaction in for store in stores { try transaction.create(Into<Person>(store)).email = email } }
        }
    }

    private static func creating(_ email: String) -> @Sendable (Transaction) throws -> Void {
        { try $0.create(Into<Person>()).email = email }
    }

    @Test(arguments: Backend.allCases)
    func manyAtOnceNeedFewCommits(_ backend: Backend) async throws {
        let counted = try Counted(backend)
        let stack = counted.stack
        for round in 0..<4 {
            // All transactions are queued before the first one continues, on a machine of any speed.
            let gate = try await QueueGate(stack)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<64 {
                    group.addTask {
                        let id = try await stack.perform { transaction in
                            let person = try transaction.create(Into<Person>())
                            person.email = "\(number)-\(round)"
                            return person.objectID
                        }
                        // An acknowledged transaction is committed.
                        #expect(try await stack.read { try $0.fetchExisting(id)?.email } == "\(number)-\(round)")
                    }
                }
                while stack.queuedTransactionCount < 64 { try await Task.sleep(for: .milliseconds(1)) }
                try await gate.open()
                try await group.waitForAll()
            }
        }
        #expect(try counted.emails.count == 256)
        let commits = counted.faults.commits.count
        #expect(commits < 128, "\(commits) commits of 256 transactions")
        let version = try stack.readAndWait { context in
            _ = try context.fetchCount(From<Person>())
            return context.version(of: counted.store)
        }
        #expect(version == UInt64(commits))
    }

    @Test(arguments: Backend.allCases)
    func eachSeesItsPredecessorsButOthersDoNotBeforeTheCommit(_ backend: Backend) async throws {
        let counted = try Counted(backend)
        let stack = counted.stack
        let gate = try await QueueGate(stack, Self.creating("first"))
        let tasks = try await QueueGate.line(
            stack,
            [
                { transaction in
                    let person = try #require(try transaction.fetchOne(From<Person>()))
                    #expect(person.email == "first")
                    #expect(try stack.readAndWait { try $0.fetchCount(From<Person>()) } == 0)
                    person.email = "second"
                },
                { transaction throws in
                    #expect(try transaction.fetchAll(From<Person>()).map(\.email) == ["second"])
                    #expect(try transaction.fetchCount(From<Person>(), Where(\.email == "first")) == 0)
                    try transaction.deleteAll(From<Person>())
                    try Self.creating("third")(transaction)
                },
            ])
        try await gate.open()
        for task in tasks { try await task.value }
        #expect(try counted.emails == ["third"])
        #expect(counted.faults.commits == [.full])
    }

    struct Stop: Error {}

    @Test(arguments: Backend.allCases)
    func failingTransactionDoesNotAffectItsGroup(_ backend: Backend) async throws {
        let counted = try Counted(backend)
        let stack = counted.stack
        let gate = try await QueueGate(stack, Self.creating("a"))
        let failures: [(@Sendable (Transaction) throws -> Void, StoreError.Code?)] = [
            (Self.creating("b"), nil),
            (
                {
                    try Self.creating("x")($0)
                    throw Stop()
                }, StoreError.Code("stop")
            ),
            (Self.creating("c"), nil),
            // Refused by the store, after another object of the same change set.
            (
                {
                    try Self.creating("y")($0)
                    try Self.creating("a")($0)
                }, .constraint
            ),
            // Refused before the change set is applied.
            ({ _ = try $0.create(Into<Person>()) }, .constraint),
            (
                {
                    try Self.creating("z")($0)
                    try $0.cancel()
                }, .cancelled
            ),
            (Self.creating("d"), nil),
            ({ transaction throws in #expect(try transaction.fetchAll(From<Person>()).map(\.email) == ["a", "b", "c", "d"]) }, nil),
        ]
        let tasks = try await QueueGate.line(stack, failures.map(\.0))
        try await gate.open()
        for (task, (_, code)) in zip(tasks, failures) {
            switch await task.result {
            case .success: #expect(code == nil)
            case .failure(let error): #expect((error as? StoreError)?.code ?? StoreError.Code("stop") == code, "\(error)")
            }
        }
        #expect(try counted.emails == ["a", "b", "c", "d"])
        #expect(counted.faults.commits.count == 1)
        // Unique values of the failed transactions are available.
        for email in ["x", "y", "z"] { try stack.performAndWait(Self.creating(email)) }
        let ids = try stack.readAndWait { try $0.fetchObjectIDs(From<Person>()) }
        #expect(Set(ids).count == 7)
    }

    @Test(arguments: Backend.allCases)
    func aCommitThatFailsFailsAllOfIt(_ backend: Backend) async throws {
        let counted = try Counted(backend)
        let stack = counted.stack
        try stack.performAndWait(Self.creating("before"))
        let gate = try await QueueGate(stack)
        counted.faults.failCommits(1)
        let tasks = try await QueueGate.line(
            stack, ["a", "b", "c"].map(Self.creating) + [{ _ = try $0.fetchCount(From<Person>()) }, { _ in }])
        try await gate.open()
        for task in tasks.prefix(4) {
            let error = await #expect(throws: StoreError.self) { try await task.value }
            #expect(error?.code == .io)
        }
        // The empty transaction read none of the failed changes, so it succeeds.
        try await tasks[4].value
        #expect(try counted.emails == ["before"])
        try stack.performAndWait(Self.creating("a"))
        #expect(try counted.emails == ["before", "a"])
        let ids = try stack.readAndWait { try $0.fetchObjectIDs(From<Person>()) }
        #expect(ids[0].rowID < ids[1].rowID)
    }

    @Test(arguments: Backend.allCases, [true, false])
    func anEngineThatRefusesOneKeepsTheOthers(_ backend: Backend, _ dies: Bool) async throws {
        let counted = try Counted(backend)
        let stack = counted.stack
        let gate = try await QueueGate(stack, Self.creating("a"))
        counted.faults.refuse(size: 2, times: 2, dies: dies)
        let tasks = try await QueueGate.line(
            stack,
            [
                Self.creating("b"), { for email in ["x", "y"] { try Self.creating(email)($0) } }, Self.creating("c"),
            ])
        try await gate.open()
        try await tasks[0].value
        let error = await #expect(throws: StoreError.self) { try await tasks[1].value }
        #expect(error?.code == .full)
        try await tasks[2].value
        #expect(try counted.emails == ["a", "b", "c"])
    }

    @Test(arguments: Backend.allCases)
    func transactionsTooLargeTogetherAreCommittedSeparately(_ backend: Backend) async throws {
        let counted = try Counted(backend)
        let stack = counted.stack
        let gate = try await QueueGate(stack, Self.creating("a"))
        counted.faults.refuse(size: 2, times: 1, dies: true)
        let tasks = try await QueueGate.line(
            stack,
            [
                {
                    try #require(try $0.fetchOne(From<Person>())).email = "b"
                    try Self.creating("a")($0)
                }, Self.creating("c"),
            ])
        try await gate.open()
        for task in tasks { try await task.value }
        #expect(try counted.emails == ["b", "a", "c"])
        #expect(counted.faults.commits.count == 2)
    }

    /// The body continues before the group is committed, so it reads its changes from memory. The outcome is that of the second attempt.
    @Test(arguments: Backend.allCases, [1, 2])
    func anExplicitCommitTooLargeForItsGroupIsAppliedAfterIt(_ backend: Backend, _ failures: Int) async throws {
        let counted = try Counted(backend)
        let stack = counted.stack
        let gate = try await QueueGate(stack, Self.creating("a"))
        counted.faults.refuse(size: 2, times: failures, dies: true)
        let result: Result<Bool, StoreError> = await withCheckedContinuation { continuation in
            stack.beginAsynchronous { transaction in
                for email in ["x", "y"] { try Self.creating(email)(transaction) }
                transaction.commit { continuation.resume(returning: $0) }
                #expect(try transaction.fetchAll(From<Person>()).map(\.email) == ["a", "x", "y"])
            }
            Task { try await gate.open() }
        }
        switch result {
        case .success(let hadChanges): #expect(hadChanges && failures == 1)
        case .failure(let error): #expect(error.code == .full && failures == 2)
        }
        #expect(try counted.emails == (failures == 1 ? ["a", "x", "y"] : ["a"]))
        #expect(counted.faults.commits.count == (failures == 1 ? 2 : 1))
    }

    /// The row ids of a transaction that is applied again belong to it, also in a store whose write transaction, and with it their reservation, was given up.
    @Test(arguments: Backend.allCases, [true, false])
    func rowIDsOfATransactionThatIsAppliedAloneAreNotAssignedAgain(_ backend: Backend, _ changesTheOther: Bool) async throws {
        let split = try Split(backend)
        let (stack, faults) = (split.stack, split.faults)
        let gate = try await QueueGate(stack, Split.creating("1", changesTheOther ? "A" : "B"))
        faults.refuse(size: 2, times: 1, dies: true)
        let tasks = try await QueueGate.line(
            stack,
            [
                {
                    for email in ["2", "3"] { try Split.creating(email, "A")($0) }
                    if changesTheOther { try Split.creating("2", "B")($0) }
                }
            ])
        try await gate.open()
        for task in tasks { try await task.value }
        // More than one reservation holds.
        for number in 10..<60 { for store in ["A", "B"] { try await stack.perform(Split.creating("\(number)", store)) } }
        for store in ["A", "B"] {
            let rowIDs = try stack.readAndWait { try $0.fetchObjectIDs(From<Person>(store)).map(\.rowID) }
            #expect(rowIDs.count == Set(rowIDs).count)
            #expect(rowIDs.count == 50 + (store == "A" ? (changesTheOther ? 3 : 2) : 1))
        }
    }

    /// The store that refused a transaction is written by another stack before the transaction is applied again: its changes follow from an older version.
    @Test(arguments: Backend.shared)
    func aTransactionThatIsAppliedAloneDoesNotOverwriteTheCommitOfAnotherStack(_ backend: Backend) async throws {
        let split = try Split(backend)
        let (stack, faults) = (split.stack, split.faults)
        let other = try split.stackOverTheFirst(backend)
        try stack.performAndWait(Split.creating("person", "A"))
        let gate = try await QueueGate(stack, Split.creating("1", "B"))
        faults.refuse(size: 2, times: 1, dies: true)
        let result: Result<Bool, StoreError> = await withCheckedContinuation { continuation in
            stack.beginAsynchronous { transaction in
                try #require(try transaction.fetchOne(From<Person>("A"))).nickname = "mine"
                try Split.creating("2", "A")(transaction)
                transaction.commit { continuation.resume(returning: $0) }
                try other.performAndWait { try #require(try $0.fetchOne(From<Person>("A"))).nickname = "theirs" }
            }
            Task { try await gate.open() }
        }
        #expect(throws: StoreError.self) { try result.get() }
        if case .failure(let error) = result { #expect(error.code == .conflict) }
        let found = try stack.readAndWait { context in
            [try context.fetchAll(From<Person>("A")).map(\.nickname), try context.fetchAll(From<Person>("B")).map(\.email)]
        }
        #expect(found == [["theirs"], ["1"]])
    }

    /// A transaction of `perform` is run again in this case, and reads the commit of the other stack.
    @Test(arguments: Backend.shared)
    func aTransactionThatAnotherStackOvertakesIsRunAgain(_ backend: Backend) async throws {
        let split = try Split(backend)
        let (stack, faults) = (split.stack, split.faults)
        let other = try split.stackOverTheFirst(backend)
        stack.groupLimits.backOff.first = .zero
        try stack.performAndWait(Split.creating("person", "A"))
        // Called between the two attempts to apply the changes.
        stack.logger = Overtaking {
            _ = try? other.performAndWait { try #require(try $0.fetchOne(From<Person>("A"))).nickname = "theirs" }
        }
        let gate = try await QueueGate(stack, Split.creating("1", "B"))
        faults.refuse(size: 2, times: 1, dies: true)
        let seen = Protected<[String?]>([])
        let tasks = try await QueueGate.line(
            stack,
            [
                { transaction in
                    let person = try #require(try transaction.fetchOne(From<Person>("A").where(\.email == "person")))
                    let nickname = person.nickname
                    seen.withLock { $0.append(nickname) }
                    person.nickname = "mine"
                    try Split.creating("2", "A")(transaction)
                }
            ])
        try await gate.open()
        try await tasks[0].value
        #expect(seen.withLock { $0 } == [nil, "theirs"])
        let emails = try stack.readAndWait { try $0.fetchAll(From<Person>("A")).map(\.email).sorted() }
        #expect(emails == ["2", "person"])
    }

    /// A logger that calls a closure once, when a transaction is about to be applied again.
    private final class Overtaking: StoreLogger {
        private let action: Protected<(@Sendable () -> Void)?>
        init(_ action: @escaping @Sendable () -> Void) { self.action = Protected(action) }
        func isEnabled(_ level: LogLevel) -> Bool { level >= .info }
        func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString) {
            guard message.contains("is applied again") else { return }
            let action = action.withLock { $0.take() }
            action?()
        }
    }

    @Test(arguments: Backend.allCases)
    func aTransactionOverTwoStoresThatFailsInOneLeavesNothingInTheOther(_ backend: Backend) async throws {
        let split = try Split(backend)
        let (stack, faults) = (split.stack, split.faults)
        let gate = try await QueueGate(stack, Split.creating("1", "A", "B"))
        let tasks = try await QueueGate.line(
            stack,
            [
                Split.creating("2", "A"),
                {
                    try Split.creating("3", "A")($0)
                    try Split.creating("1", "B")($0)
                }, Split.creating("4", "A", "B"),
            ])
        try await gate.open()
        try await tasks[0].value
        let error = await #expect(throws: StoreError.self) { try await tasks[1].value }
        #expect(error?.code == .constraint)
        try await tasks[2].value
        try stack.readAndWait { context throws in
            #expect(try context.fetchAll(From<Person>("A")).map(\.email) == ["1", "2", "4"])
            #expect(try context.fetchAll(From<Person>("B")).map(\.email) == ["1", "4"])
        }
        // With two stores, a failed commit of the first affects transactions on the second if their commit comes after it.
        let second = try await QueueGate(stack)
        faults.failCommits(1)
        let more = try await QueueGate.line(
            stack, [Split.creating("5", "A"), Split.creating("6", "A", "B"), { _ = try $0.fetchCount(From<Person>("B")) }])
        try await second.open()
        for task in more { await #expect(throws: StoreError.self) { try await task.value } }
        #expect(try stack.readAndWait { try $0.fetchCount(From<Person>()) } == 5)
    }

    @Test(arguments: Backend.allCases)
    func aTransactionDoesNotWaitForAFlushItDidNotRequest(_ backend: Backend) async throws {
        let counted = try Counted(backend)
        let gate = try await QueueGate(counted.stack)
        let levels: [Durability?] = [.relaxed, .relaxed, .full, .relaxed, nil]
        let tasks = try await QueueGate.line(counted.stack, (0..<5).map { Self.creating("\($0)") }, durability: levels)
        try await gate.open()
        for task in tasks { try await task.value }
        #expect(counted.faults.commits == [.relaxed, .full])
        #expect(try counted.emails == ["0", "1", "2", "3", "4"])
    }

    @Test(
        arguments: Backend.allCases,
        [
            (GroupLimits(transactions: 3), 3), (GroupLimits(bytes: 2500), 3), (GroupLimits(nanoseconds: 0), 7),
            (GroupLimits(nanoseconds: .max), 1),
        ])
    func aGroupHasALimit(_ backend: Backend, _ limit: (limits: GroupLimits, commits: Int)) async throws {
        let counted = try Counted(backend)
        counted.stack.groupLimits = limit.limits
        if limit.limits.nanoseconds > 0 { counted.stack.groupLimits.nanoseconds = .max }
        let creating: @Sendable (Int) -> @Sendable (Transaction) throws -> Void = { number in
            { transaction in
                let person = try transaction.create(Into<Person>())
                person.email = "\(number)"
                person.nickname = String(repeating: "x", count: 1000)
            }
        }
        let gate = try await QueueGate(counted.stack, creating(0))
        let tasks = try await QueueGate.line(counted.stack, (1..<7).map(creating))
        try await gate.open()
        for task in tasks { try await task.value }
        #expect(counted.faults.commits.count == limit.commits)
        #expect(try counted.emails == (0..<7).map(String.init))
    }

    @Test(arguments: Backend.allCases)
    func readingAloneCommitsNothing(_ backend: Backend) async throws {
        let counted = try Counted(backend)
        for _ in 0..<3 { #expect(try await counted.stack.perform { try $0.fetchCount(From<Person>()) } == 0) }
        #expect(counted.faults.commits.isEmpty)
    }

    @Test(arguments: Backend.allCases)
    func threadsAndTasksMix(_ backend: Backend) async throws {
        let counted = try Counted(backend)
        let stack = counted.stack
        let gate = try await QueueGate(stack)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<24 {
                group.addTask {
                    for round in 0..<5 {
                        try await stack.perform(Self.creating("task \(number) \(round)"))
                    }
                }
                group.addTask {
                    try await withCheckedThrowingContinuation { continuation in
                        Thread {
                            continuation.resume(
                                with: Result {
                                    for round in 0..<5 {
                                        let thread = ObjectIdentifier(Thread.current)
                                        try stack.performAndWait { transaction in
                                            #expect(ObjectIdentifier(Thread.current) == thread)
                                            _ = expectError(.misuse) { try stack.performAndWait { _ in } }
                                            try Self.creating("thread \(number) \(round)")(transaction)
                                        }
                                        let count = try stack.readAndWait {
                                            try $0.fetchCount(From<Person>(), Where(\.email == "thread \(number) \(round)"))
                                        }
                                        #expect(count == 1)
                                    }
                                })
                        }.start()
                    }
                }
            }
            while stack.queuedTransactionCount < 48 { try await Task.sleep(for: .milliseconds(1)) }
            try await gate.open()
            try await group.waitForAll()
        }
        #expect(try counted.emails.count == 240)
        #expect(counted.faults.commits.count < 240)
    }

    @Test(arguments: Backend.allCases)
    func threadsAloneAreCommittedTogetherWhereTheWriterMayMove(_ backend: Backend) throws {
        let counted = try Counted(backend)
        let stack = counted.stack
        onThreads(16) { number in
            do {
                for round in 0..<8 { try stack.performAndWait(Self.creating("\(number) \(round)")) }
            } catch {
                Issue.record(error)
            }
        }
        #expect(try counted.emails.count == 128)
        #expect(counted.faults.commits.count <= 128)
        if !counted.store.capabilities.has(.transferableWriter) { #expect(counted.faults.commits.count == 128) }
    }

    @MainActor
    @Test(arguments: Backend.allCases)
    func theViewGetsTheChangesOfAGroupInOrder(_ backend: Backend) async throws {
        let counted = try Counted(backend)
        let stack = counted.stack
        let id = try await stack.perform { transaction in
            let person = try transaction.create(Into<Person>())
            person.email = "start"
            return person.objectID
        }
        let doomed = try await stack.perform { transaction in
            let person = try transaction.create(Into<Person>())
            person.email = "doomed"
            return person.objectID
        }
        let person = try #require(try stack.view.fetchExisting(id))
        let other = try #require(try stack.view.fetchExisting(doomed))
        let gate = try await QueueGate(stack)
        let tasks = try await QueueGate.line(
            stack,
            (1...5).map { number in { @Sendable transaction in try transaction.edit(id).age = number } } + [
                { try $0.edit(doomed).nickname = "late" }, { try $0.delete(doomed) },
                { try $0.edit(id).nickname = "after \(try $0.edit(id).age)" },
            ])
        let version = stack.view.version(of: counted.store)
        try await gate.open()
        for task in tasks { try await task.value }
        #expect(counted.faults.commits.count == 3)
        #expect(person.age == 5)
        #expect(person.nickname == "after 5")
        #expect(other.isDeleted)
        #expect(other.nickname == "late")
        #expect(stack.view.version(of: counted.store) == version.map { $0 + 1 })
    }

    @MainActor
    @Test(arguments: Backend.allCases)
    func theViewReceivesCommitsThatArriveWhileItMoves(_ backend: Backend) async throws {
        let counted = try Counted(backend, durability: .relaxed)
        let stack = counted.stack
        let id = try await stack.perform { transaction in
            let person = try transaction.create(Into<Person>())
            person.email = "start"
            return person.objectID
        }
        let person = try #require(try stack.view.fetchExisting(id))
        let writers = (0..<4).map { _ in
            Task.detached { for _ in 0..<50 { try await stack.perform(editing: id) { _, person in person.age += 1 } } }
        }
        for _ in 0..<200 {
            // The registered object has the values of the view's snapshot.
            #expect(try stack.view.fetchCount(From<Person>(), Where(\.age == person.age)) == 1)
            await Task.yield()
        }
        for writer in writers { try await writer.value }
        try await stack.perform(editing: id) { _, person in person.age += 1 }
        #expect(person.age == 201)
    }

    @MainActor
    @Test(arguments: Backend.allCases)
    func theMainActorDoesNotWaitForLaterTransactions(_ backend: Backend) async throws {
        let counted = try Counted(backend)
        let stack = counted.stack
        let isBehind = Flag()
        let behind = try stack.performAndWait { transaction in
            try Self.creating("main")(transaction)
            let task = Task.detached {
                try await stack.perform { _ in isBehind.wait() }
            }
            while stack.queuedTransactionCount == 0 { Thread.sleep(forTimeInterval: 0.001) }
            return task
        }
        #expect(try counted.emails == ["main"])
        isBehind.raise()
        try await behind.value
    }
}
