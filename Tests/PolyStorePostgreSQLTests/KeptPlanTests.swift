import PolyStoreBackend
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// The plans that the server keeps of the statements of a connection, which it makes while the tables are small.
@Suite(.withServer) struct KeptPlanTests {
    private static let commits = 300

    @Test func commitsFindRowsAndTokensByTheirKeysAlsoInTablesThatWereSmallAtFirst() throws {
        let options = TestServer.options()
        let store = try Store(options: options)
        try store.write(store.people((1...Int64(Self.commits)).map { ($0, "name \($0)", nil) }))
        for id in 1...Int64(Self.commits) {
            let changes = ChangeSet(store.schema)
            try changes.update(store.entity("Person"), rowID: id, mask: FieldMask(first: 1)) { $0.setText(0, "new name \(id)") }
            try store.write(changes)
        }
        try store.backend.close()
        let server = try TestServer.get()
        func scans(_ table: String, _ column: String) throws -> Int {
            let sql = "SELECT \(column) FROM pg_stat_user_tables WHERE schemaname = '\(options.schema)' AND relname = '\(table)'"
            return try #require(Int(try server.psql(sql)))
        }
        for table in ["polystore_commits", "Person"] {
            // The server counts the scans of a connection when that has ended.
            while try scans(table, "idx_scan") < Self.commits {}
            // Building an index scans the table once.
            #expect(try scans(table, "seq_scan") < 10, "\(table)")
        }
    }
}
