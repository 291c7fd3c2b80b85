import PolyStoreBackend
import PolyStoreQuery
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Several change sets that are committed together.
@Suite(.withServer) struct GroupTests {
    /// Counts the statements that insert people.
    private func countInserts(_ options: PostgreSQLOptions) throws {
        let schema = options.schema
        try TestServer.get().psql(
            """
            CREATE SEQUENCE \(schema).inserts MINVALUE 0 START 0;
            CREATE FUNCTION \(schema).count() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('\(schema).inserts'); RETURN NULL; END $$;
            CREATE TRIGGER count AFTER INSERT ON \(schema)."Person" FOR EACH STATEMENT EXECUTE FUNCTION \(schema).count();
            SELECT nextval('\(schema).inserts')
            """)
    }

    private func inserts(_ options: PostgreSQLOptions) throws -> String {
        try TestServer.get().psql("SELECT last_value FROM \(options.schema).inserts")
    }

    @Test func transactionsThatInsertShareAStatement() throws {
        let options = TestServer.options()
        let store = try Store(options: options)
        try countInserts(options)
        let sets = try (1...64 as ClosedRange<Int64>).map { id in
            let changes = try store.people([(id, "name \(id)", "mail \(id)")])
            changes.appendLogEntry([UInt8(id)])
            return changes
        }
        let transaction = try store.backend.beginWrite()
        #expect(try transaction.apply(sets, committing: .full).errors.allSatisfy { $0 == nil })
        #expect(try inserts(options) == "1")
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == Array(1...64))
        // The entries of the log are in the order of the change sets.
        let entries = try store.read { try $0.logEntries(after: 0, limit: 100) }
        #expect(entries.map(\.bytes) == (1...64).map { [UInt8($0)] })
        #expect(Set(entries.map(\.version)) == [1])
    }

    @Test func refusedTransactionDoesNotAffectTheOthers() throws {
        let store = try Store()
        try store.write(store.people([(100, "holder", "taken")]))
        let sets = try [(1, "a"), (2, "taken"), (3, "a"), (4, "b")].map { id, email in try store.people([(id, "n", email)]) }
        let transaction = try store.backend.beginWrite()
        let errors = try transaction.apply(sets, committing: nil).errors
        #expect(errors.map { $0?.rowID } == [nil, 2, 3, nil])
        #expect(errors.map { $0?.attribute } == [nil, "email", "email", nil])
        _ = try transaction.commit(.relaxed)
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == [1, 4, 100])
    }

    /// A change set that deletes or updates is not written together with others, because its order matters.
    @Test func orderOfTransactionsMatters() throws {
        let store = try Store()
        let person = try store.entity("Person")
        try store.write(store.people([(1, "n", "taken")]))
        let deletion = ChangeSet(store.schema)
        deletion.delete(person, rowID: 1)
        let taking = try store.people([(2, "n", "taken")])
        var transaction = try store.backend.beginWrite()
        #expect(try transaction.apply([taking, deletion], committing: nil).errors.map { $0 == nil } == [false, true])
        transaction.rollback()
        transaction = try store.backend.beginWrite()
        #expect(try transaction.apply([deletion, taking], committing: .full).errors.allSatisfy { $0 == nil })
        #expect(try store.ids(FetchRequest(person)) == [2])
        // An update of an object that another change set of the group inserts.
        let update = ChangeSet(store.schema)
        var mask = FieldMask()
        mask.insert(0)
        try update.update(person, rowID: 3, mask: mask) { $0.setText(0, "updated") }
        transaction = try store.backend.beginWrite()
        let sets = try [store.people([(3, "n", nil)]), update, store.people([(4, "n", nil)])]
        #expect(try transaction.apply(sets, committing: .full).errors.allSatisfy { $0 == nil })
        #expect(try store.read { try $0.record(person, rowID: 3)?.value(person.fields[0]) } == .text("updated"))
        #expect(try store.ids(FetchRequest(person)) == [2, 3, 4])
    }
}
