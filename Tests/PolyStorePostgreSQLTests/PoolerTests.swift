import PolyStoreBackend
import PolyStoreConformance
import PolyStoreQuery
import PostgreSQLServer
import PostgreSQLTarget
import Testing

@testable import PolyStorePostgreSQL

/// Stores behind pgbouncer. Skipped if it is not installed.
@Suite(.withServer, .enabled(if: TransactionPooler.program != nil, "pgbouncer is not installed (apt-get install pgbouncer)."))
struct PoolerTests {
    private static let pooler = Result { try TransactionPooler(TestServer.get()) }

    @Test func storeIsUsedThroughAPoolerInTransactionMode() throws {
        let url = try Self.pooler.get().url(options: "pooler=transaction")
        let options = TestServer.options()
        let (first, second) = try (Store(url, options: options), Store(url, options: options))
        // More snapshots than the pooler would have connections if each client kept one.
        for id in 1...20 as ClosedRange<Int64> {
            try first.write(first.people([(id, "n\(id)", nil)]), .full)
            #expect(try second.ids(FetchRequest(second.entity("Person"))).count == Int(id))
            #expect(try second.read { try $0.record(second.entity("Person"), rowID: id)?.bytes(0).count } == "n\(id)".utf8.count)
        }
        let reader = try first.backend.beginRead()
        #expect(try reader.explain(FetchRequest(first.entity("Person"))).rowsReturned == 20)
        reader.end()
        #expect(try first.backend.verify().isEmpty)
        try first.backend.compact()
        // The settings of the transactions do not stay on the connections of the server.
        let plain = try TestServer.connect(Self.pooler.get().url())
        #expect(try plain.run([.once("SELECT count(*) FROM pg_prepared_statements")])[0].integer(0, 0) == 0)
    }

    @Test func poolerInTransactionModeIsRefusedWithoutTheOption() throws {
        let pooler = try TransactionPooler(TestServer.get())
        let error = #expect(throws: StoreError.self) { try Store(pooler.url()) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("pooler=transaction") == true)
        #expect(throws: StoreError.self) { try StoreConfiguration.postgreSQL("postgresql://a/b?pooler=some") }
    }

    @Test func poolerInSessionModeIsUsedLikeAServer() throws {
        let pooler = try TransactionPooler(TestServer.get(), mode: "session")
        let store = try Store(pooler.url())
        try store.write(store.people([(1, "a", nil)]), .full)
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == [1])
    }

    @Test func commitsAreFoundWithoutListening() throws {
        let url = try Self.pooler.get().url(options: "pooler=transaction")
        let options = TestServer.options()
        let (observing, writing) = try (Store(url, options: options), Store(options: options))
        let calls = Protected(0)
        let listener = observing.backend.announceCommits { calls.signal { $0 += 1 } }
        calls.wait(until: { $0 > 0 }, { _ in })
        let before = calls.withLock { $0 }
        try writing.write(writing.people([(2, "n", nil)]))
        calls.wait(until: { $0 > before }, { _ in })
        withExtendedLifetime(listener) {}
    }

    private static let areas = ["transaction", "interruption", "snapshot", "writing", "recovery"]
    static let cases = ConformanceCase.all.filter { c in
        TestServer.isThorough || areas.contains { c.id.hasPrefix($0 + ".") }
    }
    private static let target = Result { try PostgreSQLTarget.on(TestServer.get(), through: pooler.get()) }

    @Test(arguments: cases)
    func conformsThroughAPooler(_ c: ConformanceCase) async throws {
        let target = try Self.target.get()
        guard let reason = PostgreSQLTarget.knownFailures[c.id] else {
            _ = try await c.run(target)
            return
        }
        await withKnownIssue(Comment(rawValue: reason)) { try await c.run(target) }
    }
}
