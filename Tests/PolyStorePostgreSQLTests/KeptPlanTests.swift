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

    @Test func rowsOfAListAreReadByTheirIndexAlsoWithALimitThatIsMuchGreater() throws {
        let options = TestServer.options()
        let store = try Store(options: options)
        let firms = 200
        let people = 20_000
        let listed = 4
        let reads = 20
        let changes = ChangeSet(store.schema)
        for id in 1...Int64(firms) { try changes.insert(store.entity("Firm"), rowID: id) { $0.setText(0, "firm") } }
        let firm = try store.field("Person", "firm")
        for id in 1...Int64(people) {
            try changes.insert(store.entity("Person"), rowID: id) { record in
                record.setText(0, "name \(id)")
                record.setInteger(firm.index, id % Int64(firms) + 1)
            }
        }
        try store.write(changes)
        let server = try TestServer.get()
        _ = try server.psql("ANALYZE \"\(options.schema)\".\"Person\"")
        for first in 1...Int64(reads) {
            let request = try FetchRequest(
                store.entity("Person"), predicate: .oneOf(firm, (first..<first + Int64(listed)).map { .integer($0) }), limit: people + 1)
            #expect(try store.ids(request).count == listed * people / firms)
        }
        try store.backend.close()
        let table = "FROM pg_stat_user_tables WHERE schemaname = '\(options.schema)' AND relname = 'Person'"
        // The server counts the scans of a connection when that has ended.
        while try server.psql("SELECT sum(idx_scan) \(table)") == "0" {}
        let read = try #require(Int(try server.psql("SELECT sum(seq_tup_read) + sum(idx_tup_fetch) \(table)")))
        // Building the indexes and the statistics read the table, too.
        #expect(read < reads * people / 2, "\(read) rows were read")
    }

    @Test func theNextTextIsFoundWithoutReadingThoseThatAreEqual() throws {
        let options = TestServer.options()
        let store = try Store(options: options)
        let people = 4_000
        let reads = 10
        try store.write(store.people((1...Int64(people)).map { ($0, $0 < Int64(people) ? "same" : "then", nil) }))
        let server = try TestServer.get()
        _ = try server.psql("ANALYZE \"\(options.schema)\".\"Person\"")
        let name = try store.field("Person", "name")
        for _ in 0..<reads {
            let request = try FetchRequest(
                store.entity("Person"), predicate: .compare(name, .greater, .text("same")), sortKeys: [SortKey(name)], limit: 1)
            #expect(try store.ids(request) == [Int64(people)])
        }
        try store.backend.close()
        let table = "FROM pg_stat_user_tables WHERE schemaname = '\(options.schema)' AND relname = 'Person'"
        while try server.psql("SELECT sum(idx_scan) \(table)") == "0" {}
        let read = try #require(Int(try server.psql("SELECT sum(idx_tup_fetch) \(table)")))
        #expect(read < people, "\(read) rows were read")
    }
}
