import PolyStoreBackend
import PolyStoreConformance
import PostgreSQLServer
import PostgreSQLTarget
import Testing

@testable import PolyStorePostgreSQL

/// The conformance suite on a server that refuses what relatives of PostgreSQL do not have: LISTEN, advisory locks and temporary tables. All cases run in the thorough ring.
@Suite(.withServer) struct RefusingServerTests {
    private static let proxy = Result {
        let proxy = try ProtocolProxy(TestServer.get())
        proxy.setRule { sql in
            let text = sql.uppercased()
            let isRefused =
                ["LISTEN", "UNLISTEN"].contains { text.hasPrefix($0) } || text.contains("ADVISORY")
                || ["CREATE TEMP", "CREATE LOCAL TEMP", "CREATE GLOBAL TEMP", "INTO TEMP"].contains { text.contains($0) }
            return isRefused ? .fail("0A000") : .forward
        }
        return proxy
    }

    private static let target = Result { try PostgreSQLTarget.on(TestServer.get(), refusing: proxy.get()) }
    static let cases = ConformanceCase.all.filter { TestServer.isThorough || $0.id.hasPrefix("recovery.") }

    @Test func statementsAreRefused() throws {
        let connection = try TestServer.connect(Self.proxy.get().url())
        for sql in ["LISTEN a", "SELECT pg_advisory_xact_lock(1)", "SELECT pg_try_advisory_lock(1)", "CREATE TEMPORARY TABLE a (b int)"] {
            let error = #expect(throws: StoreError.self) { try connection.run([.once(sql)]) }
            #expect(error?.sqlState == "0A000")
        }
        #expect(try connection.rows("SELECT 1").integer(0, 0) == 1)
        let target = try Self.target.get()
        print(
            "\(Self.cases.count) cases on a server that refuses statements; \(Self.cases.count { $0.reasonToSkip(target) != nil }) of them are skipped"
        )
    }

    @Test(arguments: cases)
    func conformsWithoutWhatIsRefused(_ c: ConformanceCase) async throws { _ = try await c.run(Self.target.get()) }
}
