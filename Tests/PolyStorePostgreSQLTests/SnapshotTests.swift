import Foundation
import PolyStoreBackend
import PolyStoreQuery
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Snapshots, whose beginning is sent without waiting for the server.
@Suite(.withServer) struct SnapshotTests {
    private func everyone(_ store: Store) throws -> FetchRequest { FetchRequest(try store.entity("Person")) }

    /// Ends the connections of a schema's store on the server.
    private func endConnections(_ name: String) throws {
        try TestServer.get().psql("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = '\(name)'")
    }

    @Test func snapshotShowsTheStateOfItsBeginning() throws {
        let store = try Store()
        try store.write(store.people([(1, "n", nil)]))
        let readers = try (0..<5).map { _ in try store.backend.beginRead() }
        let version = try store.write(store.people([(2, "n", nil)]))
        for reader in readers {
            #expect(try reader.ids(everyone(store)) == [1])
            #expect(try reader.version == version - 1)
            reader.end()
        }
        #expect(try store.ids(everyone(store)) == [1, 2])
    }

    @Test func snapshotsThatAreNeverReadEnd() throws {
        let store = try Store()
        for _ in 0..<30 { try store.backend.beginRead().end() }
        try store.write(store.people([(1, "n", nil)]))
        #expect(store.backend.readSessions?.active == 0)
        #expect(try store.ids(everyone(store)) == [1])
    }

    @Test(arguments: ["fetch", "version", "commit", "group"])
    func idleConnectionThatWasClosedIsReplaced(_ first: String) throws {
        let name = "closed_\(first)"
        let store = try Store(TestServer.get().url(options: "application_name=\(name)"))
        try store.write(store.people([(1, "n", nil)]))
        // Two idle connections. The snapshot uses one, and the writer the other.
        let both = try [store.backend.beginRead(), store.backend.beginRead()]
        for reader in both { #expect(try reader.ids(everyone(store)) == [1]) }
        for reader in both { reader.end() }
        try endConnections(name)
        let reader = try store.backend.beginRead()
        if first == "version" { #expect(try reader.version == 1) }
        if first == "commit" { try store.write(store.people([(2, "n", nil)])) }
        if first == "group" {
            #expect(try store.backend.beginWrite().apply([store.people([(2, "n", nil)])], committing: .full).version == 2)
        }
        #expect(try reader.ids(everyone(store)) == [1])
        #expect(try reader.version == 1)
        reader.end()
    }

    @Test func connectionThatIsLostInASnapshotIsAnError() throws {
        let store = try Store(TestServer.get().url(options: "application_name=lost_snapshot"))
        let reader = try store.backend.beginRead()
        #expect(try reader.ids(everyone(store)) == [])
        try endConnections("lost_snapshot")
        let error = #expect(throws: StoreError.self) { try reader.ids(everyone(store)) }
        #expect(error?.recovery == .connectionLost)
        reader.end()
        #expect(try store.ids(everyone(store)) == [])
    }

    @Test func erasedStoreIsReportedByTheFirstRequest() throws {
        let options = TestServer.options()
        let store = try Store(options: options)
        try TestServer.get().psql("DROP SCHEMA \(options.schema) CASCADE")
        let reader = try store.backend.beginRead()
        for _ in 0..<2 {
            let error = #expect(throws: StoreError.self) { try reader.ids(everyone(store)) }
            #expect(error?.code == .differentStoreAtURL)
        }
        reader.end()
    }

    @Test func requestThatIsRefusedLeavesTheSnapshotUsable() throws {
        let store = try Store()
        try store.write(store.people([(1, "n", nil)]))
        let reader = try store.backend.beginRead()
        let wrong = QueryPredicate.compare(try store.field("Person", "name"), .equal, .integer(1))
        #expect(throws: StoreError.self) { try reader.ids(FetchRequest(store.entity("Person"), predicate: wrong)) }
        #expect(try reader.ids(everyone(store)) == [1])
        reader.end()
        #expect(throws: StoreError.self) { try reader.ids(everyone(store)) }
    }

    @Test func commitDoesNotWaitForeverForASnapshotToBegin() throws {
        var options = TestServer.options()
        try Store(options: options).backend.close()
        options.busyTimeout = .milliseconds(300)
        let store = try Store(options: options)
        let writer = try store.backend.beginWrite()
        try writer.apply(store.people([(1, "n", nil)]))
        // Waits for the writer, and the snapshot waits for it, so that none of the three would end.
        let schema = options.schema
        let other = inBackground {
            _ = try TestServer.connect().run([
                .once("BEGIN"), .once("LOCK TABLE \(schema).polystore_state IN ACCESS EXCLUSIVE MODE"), .once("COMMIT"),
            ])
        }
        try TestServer.waitForLock(in: schema)
        let reader = try store.backend.beginRead()
        try TestServer.waitForLock(in: schema, count: 2)
        #expect(try writer.commit(.relaxed) == 1)
        let error = #expect(throws: StoreError.self) { try reader.ids(everyone(store)) }
        #expect(error?.code == .busy)
        reader.end()
        _ = try other().get()
        #expect(try store.ids(everyone(store)) == [1])
    }

    /// The commit waits until the snapshot has begun, and not until its first request ends.
    @Test(.timeLimit(.minutes(5))) func commitDoesNotWaitForTheFirstRequestOfASnapshot() throws {
        var options = TestServer.options()
        options.busyTimeout = .seconds(3600)
        let store = try Store(options: options)
        let schema = options.schema
        try store.write(store.people([(1, "n", nil)]))
        func lock(_ table: String) throws -> Connection {
            let connection = try TestServer.connect()
            try connection.run([.once("BEGIN"), .once("LOCK TABLE \(schema).\"\(table)\" IN ACCESS EXCLUSIVE MODE")])
            return connection
        }
        let (state, people) = try (lock("polystore_state"), lock("Person"))
        let reader = try #require(try store.backend.beginRead() as? PostgreSQLReadTransaction)
        try TestServer.waitForLock(in: schema)
        let opening = try #require(reader.session.opening as? Opening)
        nonisolated(unsafe) let reading = reader
        let everyone = try everyone(store)
        let ids = inBackground { try reading.ids(everyone) }
        while !opening.isBeingRead {}
        let changes = ChangeSet(store.schema)
        try changes.setValue([1], named: "a")
        nonisolated(unsafe) let values = changes
        let commit = inBackground { try store.backend.beginWrite().apply([values], committing: .relaxed).version }
        Thread.sleep(forTimeInterval: 0.05)
        try state.run([.once("COMMIT")])
        #expect(try commit().get() == 2)
        #expect(opening.isBeingRead, "the request of the snapshot still waits for the table")
        try people.run([.once("COMMIT")])
        #expect(try ids().get() == [1])
        reading.end()
    }

    @Test func endDoesNotWaitForACommitThatReadsTheResponse() throws {
        let options = TestServer.options()
        let store = try Store(options: options)
        let writer = try store.backend.beginWrite()
        try writer.apply(store.people([(1, "n", nil)]))
        // Waits for the writer, and the snapshot waits for it.
        let process = Protected<Int64?>(nil)
        let other = inBackground {
            let connection = try TestServer.connect()
            let found = try connection.rows("SELECT pg_backend_pid()::bigint").integer(0, 0)
            process.withLock { $0 = found }
            try connection.run([.once("BEGIN"), .once("LOCK TABLE \(options.schema).polystore_state IN ACCESS EXCLUSIVE MODE")])
        }
        try TestServer.waitForLock(in: options.schema)
        let reader = try #require(try store.backend.beginRead() as? PostgreSQLReadTransaction)
        try TestServer.waitForLock(in: options.schema, count: 2)
        let opening = try #require(reader.session.opening as? Opening)
        nonisolated(unsafe) let committing = writer
        let commit = inBackground { try committing.commit(.relaxed) }
        while !opening.isBeingRead {}
        nonisolated(unsafe) let ending = reader
        let isEnded = Protected(false)
        let end = inBackground {
            ending.end()
            isEnded.withLock { $0 = true }
        }
        let limit = ContinuousClock.now + .seconds(120)
        while !isEnded.withLock({ $0 }), .now < limit { Thread.sleep(forTimeInterval: 0.001) }
        #expect(isEnded.withLock { $0 } && opening.isBeingRead)
        // Lets the snapshot begin, and with it the commit end.
        try TestServer.get().psql("SELECT pg_terminate_backend(\(process.withLock { $0 } ?? 0), 60000)")
        #expect(try commit().get() == 1)
        try end().get()
        #expect(throws: StoreError.self) { try other().get() }
        #expect(store.backend.readSessions?.active == 0)
        #expect(try store.ids(everyone(store)) == [1])
    }

    @Test func snapshotsBesideAWriterShowWhatWasCommittedBefore() throws {
        let store = try Store()
        let person = try store.entity("Person")
        /// The number of commits that have begun, and of those that were acknowledged.
        let commits = Protected((begun: 0 as UInt64, done: 0 as UInt64))
        let writer = inBackground {
            for id in 1...150 as ClosedRange<Int64> {
                let transaction = try store.backend.beginWrite()
                try transaction.apply(store.people([(id, "n", nil)]))
                commits.withLock { $0.begun += 1 }
                let version = try transaction.commit(.relaxed)
                commits.withLock { $0.done = version }
            }
        }
        let readers = (0..<4).map { number in
            inBackground {
                for round in 0..<80 {
                    let least = commits.withLock { $0.done }
                    let reader = try store.backend.beginRead()
                    let most = commits.withLock { $0.begun }
                    if (round + number) % 3 == 0 {
                        // The first request comes after further commits, or the snapshot is never read.
                        if round % 2 == 0 { _ = try? store.read { try $0.count(FetchRequest(person)) } }
                        if round % 5 == 0 {
                            reader.end()
                            continue
                        }
                    }
                    let count = try reader.count(FetchRequest(person))
                    #expect(UInt64(count) >= least && UInt64(count) <= most, "\(count) is not within \(least)...\(most)")
                    #expect(try reader.version == UInt64(count))
                    reader.end()
                }
            }
        }
        try writer().get()
        for reader in readers { try reader().get() }
        #expect(store.backend.readSessions?.active == 0)
    }
}
