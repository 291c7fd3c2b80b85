import PolyStoreBackend
import PolyStoreQuery
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Servers that refuse statements, answer late or not at all, and connections that end.
@Suite(.withServer) struct FaultTests {
    /// A store behind a proxy.
    private struct DisturbedStore {
        let proxy: ProtocolProxy
        let store: Store

        init(_ change: (inout PostgreSQLOptions) -> Void = { _ in }, rule: @escaping ProtocolProxy.Rule = { _ in .forward }) throws {
            var options = TestServer.options()
            change(&options)
            proxy = try ProtocolProxy(TestServer.get())
            proxy.setRule(rule)
            store = try Store(proxy.url(), options: options)
        }

        /// Writes a person, and finds the outcome of a commit whose response was lost.
        /// - Parameter isTogether: Whether the whole transaction is one pipeline.
        /// - Returns: Whether the person was written.
        func write(_ id: Int64, isTogether: Bool = false) throws -> Bool {
            let transaction = try store.backend.beginWrite()
            defer { transaction.rollback() }
            do {
                let changes = try store.people([(id, "n", nil)])
                if isTogether { return try transaction.apply([changes], committing: .full).version != nil }
                try transaction.apply(changes)
                _ = try transaction.commit(.full)
                return true
            } catch let error as StoreError where error.recovery == .commitOutcomeUnknown {
                proxy.reset()
                proxy.release()
                let outcome = try transaction.commitOutcome()
                #expect(outcome != .unknown)
                return outcome != .notCommitted
            }
        }

        func ids() throws -> [Int64] { try store.ids(FetchRequest(store.entity("Person"))) }

        /// Disturbs one statement of what is sent from now on. What is sent without being waited for can belong to the transaction before, and does not count.
        /// - Parameter number: The number of statements that precede it.
        /// - Returns: The number of statements that still precede it; −1 and less if it was disturbed.
        @discardableResult
        func disturb(_ action: ProtocolProxy.Action, at number: Int) -> Protected<Int> {
            let left = Protected(number)
            proxy.setRule { sql in
                if sql == "ROLLBACK" || sql.hasPrefix("NOTIFY") { return .forward }
                return left.withLock { left in
                    left -= 1
                    return left == -1
                } ? action : .forward
            }
            return left
        }
    }

    @Test func serverWithoutListenLocksAndTemporaryTablesIsPolled() throws {
        let refused = Protected<[String]>([])
        let disturbed = try DisturbedStore(rule: { sql in
            let text = sql.uppercased()
            guard text.hasPrefix("LISTEN") || text.contains("ADVISORY") || text.contains("TEMP") else { return .forward }
            refused.signal { $0.append(sql) }
            return .fail("0A000")
        })
        let store = disturbed.store
        let calls = Protected(0)
        let listener = store.backend.announceCommits { calls.signal { $0 += 1 } }
        calls.wait(until: { $0 > 0 }, { _ in })
        let before = calls.withLock { $0 }
        #expect(try disturbed.write(1))
        calls.wait(until: { $0 > before }, { _ in })
        #expect(try store.backend.verify().isEmpty)
        #expect(refused.withLock { $0.allSatisfy { $0.hasPrefix("LISTEN") } })
        withExtendedLifetime(listener) {}
    }

    @Test(arguments: [false, true])
    func transactionThatIsNotSerializableCanBeRepeated(_ isTogether: Bool) throws {
        let disturbed = try DisturbedStore()
        #expect(try disturbed.write(1))
        var failures = 0
        for limit in 0... {
            // Each statement of a transaction fails once, COMMIT among them.
            disturbed.disturb(.fail("40001"), at: limit)
            let outcome = Result { try disturbed.write(Int64(limit) + 2, isTogether: isTogether) }
            disturbed.proxy.reset()
            guard case .failure(let error as StoreError) = outcome else { break }
            #expect(error.recovery == .retryable)
            failures += 1
            #expect(try disturbed.ids() == Array(1..<Int64(limit) + 2))
            #expect(try disturbed.write(Int64(limit) + 2))
        }
        #expect(failures > 5)
    }

    /// The connection ends before each statement of the only pipeline of a transaction, COMMIT among them.
    @Test func pipelineThatEndsAtAnyStatementIsCommittedOrNot() throws {
        let disturbed = try DisturbedStore()
        var ids: [Int64] = []
        var losses = 0
        for limit in 0... {
            // With a connection that is in use.
            let id = Int64(limit) * 2 + 1
            #expect(try disturbed.write(id, isTogether: true))
            ids.append(id)
            let left = disturbed.disturb(.drop, at: limit)
            let isWritten = try disturbed.write(id + 1, isTogether: true)
            let isOver = left.withLock { $0 >= 0 }
            disturbed.proxy.reset()
            if isWritten { ids.append(id + 1) } else { losses += 1 }
            #expect(try disturbed.ids() == ids)
            if isOver { break }
            #expect(!isWritten)
        }
        #expect(losses > 8)
    }

    /// A server that begins the pipeline only after the client has asked for its outcome must not execute it.
    @Test func commitWhoseOutcomeWasAskedForIsPrevented() throws {
        let disturbed = try DisturbedStore()
        #expect(try disturbed.write(1))
        let transaction = try #require(try disturbed.store.backend.beginWrite() as? PostgreSQLWriteTransaction)
        disturbed.proxy.setRule { $0.hasPrefix("BEGIN") ? .drop : .forward }
        let error = #expect(throws: StoreError.self) {
            try transaction.apply([disturbed.store.people([(2, "n", nil)])], committing: .full)
        }
        #expect(error?.recovery == .commitOutcomeUnknown)
        disturbed.proxy.reset()
        for _ in 0..<2 { #expect(try transaction.commitOutcome() == .notCommitted) }
        // The commit of the pipeline, as the server would execute it now.
        let other = try TestServer.connect()
        let late = #expect(throws: StoreError.self) { try other.run([transaction.increment]) }
        #expect(late?.sqlState == ChangeWriter.wrongCount)
        transaction.rollback()
        #expect(try disturbed.write(2, isTogether: true))
        #expect(try disturbed.ids() == [1, 2])
        #expect(try disturbed.store.backend.verify().isEmpty)
    }

    @Test(arguments: [true, false], [false, true])
    func commitWhoseConnectionEndsIsThereOrNot(_ isExecuted: Bool, _ isTogether: Bool) throws {
        let disturbed = try DisturbedStore()
        #expect(try disturbed.write(1))
        if isExecuted {
            disturbed.proxy.setResponseRule { $0 == "COMMIT" ? .drop : .forward }
        } else {
            disturbed.proxy.setRule { $0 == "COMMIT" ? .drop : .forward }
        }
        #expect(try disturbed.write(2, isTogether: isTogether) == isExecuted)
        #expect(try disturbed.ids() == (isExecuted ? [1, 2] : [1]))
        if !isExecuted { #expect(try disturbed.write(2, isTogether: isTogether)) }
    }

    @Test(arguments: [false, true])
    func commitThatIsLateIsThereOrNot(_ isTogether: Bool) throws {
        let disturbed = try DisturbedStore { $0.responseTimeout = .milliseconds(300) }
        #expect(try disturbed.write(1))
        disturbed.proxy.setRule { $0 == "COMMIT" ? .stall : .forward }
        let isWritten = try disturbed.write(2, isTogether: isTogether)
        #expect(try disturbed.ids() == (isWritten ? [1, 2] : [1]))
    }

    @Test func connectionThatIsHalfClosedIsReplaced() throws {
        let disturbed = try DisturbedStore()
        #expect(try disturbed.write(1))
        let isOver = Protected(false)
        disturbed.proxy.setRule { sql in
            guard sql.hasPrefix("SAVEPOINT") else { return .forward }
            return isOver.withLock { isOver in
                defer { isOver = true }
                return isOver
            } ? .forward : .halfClose(0.2)
        }
        // The first request is sent again, and waits for the lock of the transaction that the server has not ended yet.
        #expect(try disturbed.write(2))
        #expect(isOver.withLock { $0 })
        #expect(try disturbed.ids() == [1, 2])
    }

    @Test func requestWithoutAResponseEndsAtItsTimeLimit() throws {
        let disturbed = try DisturbedStore { $0.cancelTimeout = .milliseconds(300) }
        #expect(try disturbed.write(1))
        let reader = try disturbed.store.backend.beginRead()
        #expect(try reader.version == 1)
        // Neither the statement nor anything else of this connection reaches the server, which therefore ignores the request to cancel it.
        disturbed.proxy.setRule { $0.contains("\"Firm\"") ? .stall : .forward }
        reader.interruption = Interruption(timeLimit: .milliseconds(50))
        let error = #expect(throws: StoreError.self) { try reader.ids(FetchRequest(disturbed.store.entity("Firm"))) }
        #expect(error?.code == .timedOut)
        reader.interruption = nil
        #expect(throws: StoreError.self) { try reader.ids(FetchRequest(disturbed.store.entity("Person"))) }
        reader.end()
        #expect(try disturbed.ids() == [1])
    }

    @Test func endOfASnapshotDoesNotWaitForTheServer() throws {
        let disturbed = try DisturbedStore()
        #expect(try disturbed.write(1))
        let firm = try FetchRequest(disturbed.store.entity("Firm"))
        let reader = try disturbed.store.backend.beginRead()
        #expect(try reader.ids(firm) == [])
        let isStalled = Protected(false)
        disturbed.proxy.setRule { sql in
            guard sql.contains("\"Firm\"") else { return .forward }
            isStalled.signal { $0 = true }
            return .stall
        }
        let cursor = try reader.fetch(firm)
        isStalled.wait(until: { $0 }, { _ in })
        // This would wait for the release.
        reader.end()
        #expect(throws: StoreError.self) { try cursor.next() }
        disturbed.proxy.reset()
        disturbed.proxy.release()
        #expect(try disturbed.ids() == [1])
    }

    @Test func lastCommitOfSeveralOnesIsAnnounced() throws {
        let found = Protected((commits: 0, isAnnounced: false))
        let disturbed = try DisturbedStore(rule: { sql in
            if sql == "COMMIT" { found.withLock { $0 = ($0.commits + 1, false) } }
            if sql.hasPrefix("NOTIFY") { found.signal { $0.isAnnounced = true } }
            return .forward
        })
        let before = found.withLock { $0.commits }
        for id in 1..<30 { #expect(try disturbed.write(Int64(id))) }
        found.wait(until: { $0.commits == before + 29 && $0.isAnnounced }, { _ in })
    }
}
