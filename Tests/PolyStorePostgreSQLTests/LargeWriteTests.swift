import PolyStoreBackend
import PolyStoreQuery
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Change sets of many rows: `COPY`, the division of statements, and the memory that they take.
@Suite(.withServer) struct LargeWriteTests {
    private static let count = Int64(ChangeWriter.leastCopied)

    /// Returns a change set that inserts enough people for a copy.
    private func many(
        _ store: Store, from first: Int64 = 1, count: Int64 = Self.count, email: (Int64) -> String? = { _ in nil }
    ) throws -> ChangeSet { try store.people((first..<first + count).map { ($0, "name \($0)", email($0)) }) }

    /// A model with every type of attribute.
    private func typedSchema() throws -> ResolvedSchema {
        let types: [AttributeType] = [
            .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double, .decimal, .string, .data, .date,
            .uuid, .url,
        ]
        let required = types.map { AttributeDescription(name: "a_\($0)", type: $0) }
        let optional = types.map { AttributeDescription(name: "b_\($0)", type: $0, isOptional: true) }
        return try ResolvedSchema(
            SchemaDescription(
                name: "Typed", entities: [EntityDescription(name: "Row", properties: (required + optional).map { .attribute($0) })]))
    }

    @Test func copiedRowsEqualInsertedOnes() throws {
        let schema = try typedSchema()
        let entity = schema.entities[0]
        func rows(_ ids: Range<Int64>) throws -> ChangeSet {
            let changes = ChangeSet(schema)
            for id in ids {
                try changes.insert(entity, rowID: id) { record in
                    for field in entity.fields where !field.isOptional || id % 2 == 0 {
                        Self.set(field, id % 100, of: &record)
                    }
                }
            }
            return changes
        }
        let (copied, inserted) = try (Store(schema: schema), Store(schema: schema))
        try copied.write(rows(1..<Self.count + 1))
        try inserted.write(rows(1..<101))
        for id in 1..<101 as Range<Int64> {
            let records = try [copied, inserted].map { store in try #require(store.read { try $0.record(entity, rowID: id) }) }
            for field in entity.fields { #expect(records[0].value(field) == records[1].value(field), "\(field.name) of \(id)") }
        }
        #expect(try copied.read { try $0.count(FetchRequest(entity)) } == Int(Self.count))
    }

    private static func set(_ field: Field, _ number: Int64, of record: inout RecordBuilder) {
        func set(_ bytes: [UInt8]) { bytes.withUnsafeBytes { record.setBytes(field.index, $0) } }
        switch field.type {
        case .float, .double, .date: record.setReal(field.index, number == 0 ? -.infinity : Double(number) / 8)
        // A text with both characters that PostgreSQL does not store as they are.
        case .string: record.setText(field.index, "text \(number) \u{0}\u{1} ä")
        case .url: record.setText(field.index, "https://example.com/\(number)")
        case .data: set([0, UInt8(number), 255])
        case .uuid: set((0..<16).map { UInt8($0) ^ UInt8(number) })
        case .decimal: set(number == 0 ? [0x80] : [0x81, 0x80, 0x01, UInt8(number % 99) + 2, 0])
        case .bool: record.setInteger(field.index, number & 1)
        default: record.setInteger(field.index, number)
        }
    }

    @Test func equalValueInACopyIsNamed() throws {
        let store = try Store()
        try store.write(store.people([(1_000_000, "holder", "taken")]))
        for (email, holder) in [("taken", "object 1000000"), ("twice", "a new object")] {
            let changes = try many(store) { [7, holder == "a new object" ? 9 : 7].contains($0) ? email : nil }
            let error = #expect(throws: StoreError.self) { try store.write(changes) }
            #expect(error?.code == .constraint)
            #expect(error?.entity == "Person")
            #expect(error?.attribute == "email")
            #expect(error?.rowID == (holder == "a new object" ? 9 : 7))
            #expect(error?.message.contains(holder) == true, "\(error?.message ?? "")")
        }
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == [1_000_000])
    }

    @Test func takenRowIDInACopyIsNamed() throws {
        let store = try Store()
        try store.write(store.people([(5, "holder", nil)]))
        let error = #expect(throws: StoreError.self) { try store.write(many(store)) }
        #expect(error?.code == .constraint)
        #expect(error?.entity == "Person")
        #expect(error?.rowID == 5)
    }

    @Test func missingValueInACopyIsNamedAndTheTransactionContinues() throws {
        let store = try Store()
        let person = try store.entity("Person")
        let changes = try many(store)
        try changes.insert(person, rowID: 15_000_000) { $0.setText(1, "without a name") }
        let transaction = try store.backend.beginWrite()
        let error = #expect(throws: StoreError.self) { try transaction.apply(changes) }
        #expect(error?.code == .constraint)
        #expect(error?.entity == "Person")
        #expect(error?.attribute == "name")
        #expect(error?.rowID == 15_000_000)
        try transaction.apply(store.people([(3, "Jane", nil)]))
        _ = try transaction.commit(.relaxed)
        #expect(try store.ids(FetchRequest(person)) == [3])
    }

    @Test func missingValueInAPipelineIsNamedAndTheTransactionContinues() throws {
        let store = try Store()
        let person = try store.entity("Person")
        let changes = try many(store, count: 10)
        try changes.insert(person, rowID: 11) { $0.setText(1, "without a name") }
        let transaction = try store.backend.beginWrite()
        let error = #expect(throws: StoreError.self) { try transaction.apply(changes) }
        #expect(error?.attribute == "name")
        #expect(error?.rowID == 11)
        // Of several change sets the others are applied.
        let results = try transaction.apply([many(store, count: 10), changes], committing: nil)
        #expect(results.errors.map { $0?.rowID } == [nil, 11])
        _ = try transaction.commit(.relaxed)
        #expect(try store.ids(FetchRequest(person)).count == 10)
    }

    @Test func checkOfTheTableRefusesACopy() throws {
        let options = TestServer.options()
        let store = try Store(options: options)
        try TestServer.get().psql("ALTER TABLE \(options.schema).\"Person\" ADD CHECK (name <> 'name 15000')")
        let error = #expect(throws: StoreError.self) { try store.write(many(store)) }
        #expect(error?.code == .constraint)
        #expect(error?.sqlState == "23514")
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == [])
        try store.write(store.people([(1, "n", nil)]))
    }

    /// The server refuses to copy rows into a table whose rows have a policy.
    @Test func rowsAreInsertedWhereTheyCannotBeCopied() throws {
        let options = TestServer.options()
        let server = try TestServer.get()
        try server.psql("CREATE ROLE limited LOGIN; GRANT CREATE ON DATABASE postgres TO limited")
        let store = try Store(server.url(user: "limited"), options: options)
        let table = "\(options.schema).\"Person\""
        try server.psql(
            "ALTER TABLE \(table) ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY; CREATE POLICY everything ON \(table) USING (true) WITH CHECK (true)"
        )
        for first in [1, 1_000_000] as [Int64] {
            let transaction = try store.backend.beginWrite()
            #expect(try transaction.apply([many(store, from: first)], committing: .relaxed).errors == [nil])
        }
        #expect(try store.read { try $0.count(FetchRequest(store.entity("Person"))) } == 2 * Int(Self.count))
    }

    @Test func connectionThatEndsDuringACopyIsLost() throws {
        let options = TestServer.options()
        let store = try Store(options: options)
        try TestServer.get().psql(
            """
            CREATE FUNCTION \(options.schema).quit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF NEW.name = 'name 15000' THEN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(3600); END IF; RETURN NEW; END $$;
            CREATE TRIGGER quit BEFORE INSERT ON \(options.schema)."Person" FOR EACH ROW EXECUTE FUNCTION \(options.schema).quit()
            """)
        let transaction = try store.backend.beginWrite()
        let error = #expect(throws: StoreError.self) { try transaction.apply(many(store)) }
        #expect(error?.recovery == .connectionLost)
        transaction.rollback()
        // Another connection is opened, and nothing of the copy remains.
        try store.write(store.people([(1, "n", nil)]))
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == [1])
    }

    @Test func copyIsPartOfItsTransaction() throws {
        let store = try Store()
        let transaction = try store.backend.beginWrite()
        try transaction.apply(many(store))
        #expect(try transaction.count(FetchRequest(store.entity("Person"))) == Int(Self.count))
        transaction.rollback()
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == [])
        // Changes of other kinds, before and after the copy, in the same commit.
        try store.write(store.people([(1_000_000, "old", "a")]))
        let changes = try many(store) { $0 == 1 ? "a" : nil }
        changes.delete(try store.entity("Person"), rowID: 1_000_000)
        changes.appendLogEntry([1])
        try store.write(changes)
        #expect(try store.ids(FetchRequest(store.entity("Person"))).count == Int(Self.count))
        #expect(try store.read { try $0.logEntries(after: 0, limit: 10).count } == 1)
    }

    @Test func copyTakesFourRoundTrips() throws {
        let store = try Store()
        for first in [1, 1_000_000] as [Int64] {
            let transaction = try #require(try store.backend.beginWrite() as? PostgreSQLWriteTransaction)
            let connection = transaction.session.connection
            let changes = try many(store, from: first)
            let before = connection.pipelineCount
            _ = try transaction.apply([changes], committing: .relaxed)
            // The savepoint; the copy, accepted and ended; the rest with the commit. The announcement of the commit is not waited for.
            #expect((4...5).contains(connection.pipelineCount - before))
        }
    }

    /// The bytes that are encoded and not sent are those of one statement or of one chunk, however many a change set has.
    @Test func largeChangeSetsAreEncodedInPortions() throws {
        let store = try Store()
        let person = try store.entity("Person")
        let text = String(repeating: "x", count: 1000)
        func bytes(_ changes: ChangeSet) throws -> Int {
            let transaction = try #require(try store.backend.beginWrite() as? PostgreSQLWriteTransaction)
            let connection = transaction.session.connection
            try transaction.apply(changes)
            _ = try transaction.commit(.relaxed)
            return connection.mostQueuedBytes
        }
        // 40 MB each.
        let inserting = try store.people((1...40_000).map { ($0, text, nil) })
        #expect(try bytes(inserting) < 1 << 20)
        let updating = ChangeSet(store.schema)
        var mask = FieldMask()
        mask.insert(0)
        for id in 1...40_000 as ClosedRange<Int64> { try updating.update(person, rowID: id, mask: mask) { $0.setText(0, text + "y") } }
        #expect(try bytes(updating) < ChangeWriter.mostBytes + (1 << 20))
        #expect(try store.read { try $0.record(person, rowID: 40_000)?.bytes(0).count } == 1001)
    }
}
