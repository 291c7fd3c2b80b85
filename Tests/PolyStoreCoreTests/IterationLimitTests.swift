import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Requests in the body of an iteration whose limit of time has ended. The limit concerns the iteration, and no other request.
@Suite struct IterationLimitTests {
    /// Iterates over all people, waits in the body of the first batch until the limit has ended, and calls a body then. The iteration is to throw `timedOut` before its
    /// second batch. A limit that ends before the first batch is followed by a longer one.
    private static func iterate(in context: Context, _ body: () -> Void) {
        var limit: Duration = .milliseconds(5)
        var batches = 0
        while batches == 0 {
            let error = failure {
                try context.fetchInBatches(From<Person>().timeLimit(limit), size: 1) { _ in
                    batches += 1
                    guard batches == 1 else { return }
                    let end = ContinuousClock.now + limit
                    while .now < end { Deadline.pause(milliseconds: 1) }
                    body()
                }
            }
            #expect(error?.code == .timedOut, "\(String(describing: error))")
            limit *= 2
        }
        #expect(batches == 1)
    }

    private static func expectReads(_ context: Context, _ count: Int) {
        do {
            #expect(try context.fetchAll(From<Person>()).count == count)
            #expect(try context.fetchCount(From<Person>().where(\.age >= 0)) == count)
            #expect(try context.fetchAll(From<Person>().timeLimit(.seconds(100_000))).count == count)
        } catch {
            Issue.record("\(error)")
        }
    }

    @MainActor @Test(arguments: Backend.allCases)
    func viewsOfTheSameSnapshotAreNotInterrupted(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { _ in }
        let stack = company.stack
        let views = [stack.newView(), stack.newView()]
        for view in views { Self.expectReads(view, 6) }
        // They share the snapshot of the commit.
        try stack.performAndWait { _ = try $0.createPerson(7) }
        for view in views { Self.expectReads(view, 7) }
        Self.iterate(in: views[0]) {
            Self.expectReads(views[1], 7)
            Self.expectReads(views[0], 7)
            Self.expectReads(views[1], 7)
        }
        for view in views { Self.expectReads(view, 7) }
    }

    @MainActor @Test(arguments: Backend.allCases)
    func aCommitInTheBodyMovesTheView(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { _ in }
        let stack = company.stack
        let view = stack.newView()
        Self.iterate(in: view) {
            #expect(throws: Never.self) { try stack.performAndWait { _ = try $0.createPerson(7) } }
            Self.expectReads(view, 7)
        }
        Self.expectReads(view, 7)
        #expect(company.logger.lines.isEmpty)
    }

    @Test(arguments: Backend.forObjectLayer)
    func aChildThatBeginsInTheBodyIsNotInterrupted(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { _ in }
        let parent = company.stack.beginUnsafe()
        var child: UnsafeTransaction?
        Self.iterate(in: parent) {
            child = parent.beginUnsafe()
            child.map { Self.expectReads($0, 6) }
            Self.expectReads(parent, 6)
        }
        child.map { Self.expectReads($0, 6) }
        Self.expectReads(parent, 6)
    }

    /// The limit of an iteration is longer than that of its transaction, which its children have.
    @Test(arguments: Backend.forObjectLayer)
    func aChildThatBeginsInTheBodyHasTheLimitOfItsTransaction(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { _ in }
        expectError(.timedOut) {
            try company.stack.performAndWait(timeLimit: .milliseconds(20)) { transaction throws in
                // On a loaded machine the limit can end in this fetch, which then throws.
                try transaction.fetchInBatches(From<Person>().timeLimit(.seconds(100_000))) { _ in
                    let child = transaction.beginUnsafe().beginUnsafe()
                    while (try? transaction.checkCancellation()) != nil { Deadline.pause(milliseconds: 1) }
                    expectError(.timedOut) { try child.fetchAll(From<Person>()) }
                    expectError(.timedOut) { try transaction.fetchAll(From<Person>()) }
                }
            }
        }
    }

    /// The iteration is interrupted after its child has read with limits and without.
    @Test(arguments: Backend.forObjectLayer)
    func theReadsOfAChildDoNotEndTheLimitOfItsParent(_ backend: Backend) throws {
        let company = try Company.staffed(backend) { _ in }
        let parent = company.stack.beginUnsafe()
        let child = parent.beginUnsafe().beginUnsafe()
        Self.iterate(in: parent) {
            Self.expectReads(child, 6)
            expectError(.timedOut) { try child.fetchAll(From<Person>().timeLimit(.zero)) }
            #expect((try? child.fetchAll(From<Person>()).allSatisfy { $0.friends.count < 3 }) == true)
            Self.iterate(in: child) {
                Self.expectReads(child, 6)
                Self.expectReads(parent, 6)
            }
        }
        Self.expectReads(child, 6)
        Self.expectReads(parent, 6)
    }
}
