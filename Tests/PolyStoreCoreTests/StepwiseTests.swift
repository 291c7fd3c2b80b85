import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Transactions over several blocks and awaits, and batches that commit in parts.
@Suite struct StepwiseTests {
    @Test(arguments: Backend.forObjectLayer)
    func stepsWorkOnOneTransaction(_ backend: Backend) async throws {
        let company = try Company(backend)
        let transaction = company.stack.beginTransaction()
        let id = try await transaction.perform { step in
            let person = try step.create(Into<Person>())
            person.email = "monk"
            return person.objectID
        }
        await Task.yield()
        try await transaction.perform { try $0.edit(id).age = 44 }
        #expect(try company.count() == 0)
        try await transaction.perform { step in
            try step.edit(id).nickname = "m"
            try step.commit()
        }
        #expect(try company.ages() == [44] && company.nicknames() == ["m"])
        try await transaction.perform { try $0.edit(id).age = 45 }
        #expect(try await transaction.commit())
        #expect(try company.ages() == [45])
    }

    @Test(arguments: Backend.forObjectLayer)
    func otherTransactionsRunMeanwhile(_ backend: Backend) async throws {
        let company = try Company(backend)
        let ids = try company.people(2)
        let transaction = company.stack.beginTransaction()
        try await transaction.perform { try $0.edit(ids[0]).age = 1 }
        try await company.stack.perform(editing: ids[1]) { _, person in person.age = 2 }
        try await transaction.commit()
        #expect(try company.ages() == [1, 2])
    }

    @Test(arguments: Backend.forObjectLayer)
    func isDiscardedWhenItIsReleased(_ backend: Backend) async throws {
        let company = try Company(backend)
        do {
            let transaction = company.stack.beginTransaction()
            try await transaction.perform { try $0.create(Into<Person>()).email = "x" }
        }
        #expect(try company.count() == 0)
        #expect(company.stack.openSnapshots.isEmpty)
    }

    @Test(arguments: Backend.forObjectLayer)
    func aStepThatThrowsIsUndone(_ backend: Backend) async throws {
        struct Stop: Error {}
        let company = try Company(backend)
        let ids = try company.people(2)
        let transaction = company.stack.beginTransaction()
        try await transaction.perform { try $0.edit(ids[0]).age = 1 }
        await #expect(throws: Stop.self) {
            try await transaction.perform { step in
                try step.edit(ids[0]).age = 2
                try step.delete(ids[1])
                try step.create(Into<Person>()).email = "x"
                throw Stop()
            }
        }
        #expect(try transaction.performAndWait { try $0.fetchAll(From<Person>()).map(\.age) } == [1, 10])
        await #expect(throws: Stop.self) {
            try await transaction.perform { step in
                try step.edit(ids[0]).age = 3
                try step.commit()
                try step.edit(ids[1]).age = 4
                throw Stop()
            }
        }
        #expect(try await transaction.commit() == false)
        #expect(try company.ages() == [3, 10])
    }

    @Test func errorsOfUnawaitedStepsAreReported() async throws {
        let company = try Company(.memory, expectsSilence: false)
        let id = try company.people(1)[0]
        let transaction = company.stack.beginTransaction()
        func begin() { transaction.perform { _ in throw StoreError(.io, "The server is gone.") } }
        begin()
        try await transaction.perform { try $0.edit(id).age = 1 }
        await #expect(throws: StoreError.self) { try await transaction.commit() }
        #expect(company.logger.lines.contains { $0.contains("The server is gone") })
        await transaction.rollback()
        try await transaction.perform { try $0.edit(id).age = 2 }
        try await transaction.commit()
        #expect(try company.ages() == [2])
    }

    @Test(arguments: Backend.forObjectLayer)
    func batchesCommitRepeatedly(_ backend: Backend) async throws {
        let company = try Company(backend)
        let stack = company.stack
        let seen = try await stack.performBatch { batch in
            var seen: [Int] = []
            for number in 0..<250 {
                try batch.create(Into<Person>()).email = "\(number)"
                if number % 100 == 99 {
                    try batch.commit()
                    seen.append(try stack.readAndWait { try $0.fetchCount(From<Person>()) })
                    // Other transactions commit in between.
                    try stack.performAndWait { try $0.create(Into<Department>()).title = "\(number)" }
                }
            }
            return seen
        }
        #expect(seen == [100, 200])
        #expect(try company.count() == 250)
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await stack.performBatch { batch in
                try batch.create(Into<Person>()).email = "kept"
                try batch.commit()
                try batch.create(Into<Person>()).email = "lost"
                throw Stop()
            }
        }
        #expect(try company.count() == 251)
    }

    @Test(arguments: Backend.forObjectLayer)
    @MainActor func aBlockingBatchCommitsRepeatedlyAndLeavesTheViewCurrent(_ backend: Backend) throws {
        let company = try Company(backend)
        let stack = company.stack
        let seen = try stack.performBatchAndWait { batch in
            try batch.create(Into<Person>()).email = "first"
            try batch.commit()
            let seen = try stack.readAndWait { try $0.fetchCount(From<Person>()) }
            try batch.create(Into<Person>()).email = "second"
            return seen
        }
        #expect(seen == 1)
        #expect(try stack.view.fetchCount(From<Person>()) == 2)
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try stack.performBatchAndWait { batch in
                try batch.create(Into<Person>()).email = "lost"
                throw Stop()
            }
        }
        #expect(try company.count() == 2)
    }

    @Test(arguments: Backend.forObjectLayer)
    func savesEverythingAtTheEnd(_ backend: Backend) async throws {
        let company = try Company(backend)
        let ids = try company.people(3)
        let transactions = ids.map { _ in company.stack.beginTransaction() }
        for (transaction, id) in zip(transactions, ids) { try await transaction.perform { try $0.edit(id).nickname = "saved" } }
        company.stack.beginAsynchronous { transaction in
            try transaction.create(Into<Person>()).email = "queued"
            transaction.commit()
        }
        try await company.stack.saveAll()
        #expect(try company.nicknames() == ["saved", "saved", "saved", nil])
        for (transaction, id) in zip(transactions, ids) { try await transaction.perform { try $0.edit(id).nickname = "again" } }
        try company.stack.saveAllAndWait()
        #expect(try company.nicknames() == ["again", "again", "again", nil])
    }

    /// A transaction that is released while another one begins gives its row ids back, which takes a lock.
    @Test(arguments: Backend.forObjectLayer)
    func releasesBesideBeginnings(_ backend: Backend) throws {
        let company = try Company(backend)
        let stack = company.stack
        onThreads(4) { _ in
            for _ in 0..<100 {
                let transaction = stack.beginTransaction()
                #expect(throws: Never.self) { try transaction.performAndWait { _ = try $0.create(Into<Person>()) } }
            }
        }
        #expect(stack.openSnapshots.isEmpty)
        #expect(try company.count() == 0)
    }

    /// The closure of an observation may own what calls the stack when it is released.
    @Test(arguments: Backend.forObjectLayer)
    func anEndedObservationReleasesItsClosureWithoutALock(_ backend: Backend) throws {
        final class Owner: Sendable {
            let stack: DataStack
            let released: Protected<Bool>

            init(_ stack: DataStack, _ released: Protected<Bool>) { (self.stack, self.released) = (stack, released) }

            deinit {
                stack.observeCommits { _ in }.cancel()
                released.withLock { $0 = true }
            }
        }
        let company = try Company(backend)
        let released = Protected(false)
        let observation = company.stack.observeCommits { [owner = Owner(company.stack, released)] _ in _ = owner }
        observation.cancel()
        #expect(released.withLock { $0 })
    }
}
