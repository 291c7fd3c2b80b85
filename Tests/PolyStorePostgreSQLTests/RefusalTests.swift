import PolyStoreBackend
import PolyStoreQuery
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Change sets that the server refuses: the object that the error names, and the transaction afterwards.
@Suite(.withServer) struct RefusalTests {
    private static func store(
        _ entities: [(name: String, attributes: [AttributeDescription])], options: PostgreSQLOptions = TestServer.options()
    ) throws -> Store {
        try Store(
            options: options,
            schema: ResolvedSchema(
                SchemaDescription(
                    name: "Refused",
                    entities: entities.map { EntityDescription(name: $0.name, properties: $0.attributes.map { .attribute($0) }) })))
    }

    /// Returns a text that the server cannot compress below its length.
    private static func incompressible(_ count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return String((0..<count).map { _ in Character(Unicode.Scalar(UInt8.random(in: 33...126, using: &generator))) })
    }

    @Test(arguments: [AttributeType.string, .uuid, .int64])
    func missingObjectIsNamedIfAnAttributeIsCalledID(_ type: AttributeType) throws {
        let store = try Self.store([("Item", [AttributeDescription(name: "id", type: type, isOptional: true)])])
        let item = try store.entity("Item")
        let changes = ChangeSet(store.schema)
        // The row id of the object is also the value of its attribute.
        try changes.insert(item, rowID: 1) { if type == .int64 { $0.setInteger(0, 1) } }
        try store.write(changes)
        let transaction = try store.backend.beginWrite()
        for isDeletion in [true, false] {
            let missing = ChangeSet(store.schema)
            for id in [1, 7] as [Int64] {
                if isDeletion { missing.delete(item, rowID: id) } else { try missing.update(item, rowID: id, mask: FieldMask()) { _ in } }
            }
            let error = #expect(throws: StoreError.self) { try transaction.apply(missing) }
            #expect(error?.code == .notFound)
            #expect(error?.rowID == 7)
        }
        let more = ChangeSet(store.schema)
        try more.insert(item, rowID: 2) { _ in }
        try transaction.apply(more)
        _ = try transaction.commit(.relaxed)
        #expect(try store.ids(FetchRequest(item)) == [1, 2])
    }

    /// The server finds the first violation immediately, and the second one only while it looks for the object of the first.
    @Test(arguments: [true, false])
    func secondViolationLeavesTheTransactionUsable(_ isTooLong: Bool) throws {
        let options = TestServer.options()
        let store = try Self.store(
            [
                ("First", [AttributeDescription(name: "code", type: .int64, isUnique: true)]),
                ("Second", [AttributeDescription(name: "text", type: .string, isUnique: true)]),
            ], options: options)
        let (first, second) = (try store.entity("First"), try store.entity("Second"))
        let changes = ChangeSet(store.schema)
        try changes.insert(first, rowID: 1) { $0.setInteger(0, 1) }
        try changes.insert(second, rowID: 1) { $0.setText(0, "a") }
        try store.write(changes)
        let refused = ChangeSet(store.schema)
        try refused.insert(first, rowID: 2) { $0.setInteger(0, 1) }
        try refused.insert(second, rowID: 2) { $0.setText(0, isTooLong ? Self.incompressible(3000) : "b") }
        // A check that is not deferred.
        if !isTooLong {
            try TestServer.get().psql("ALTER TABLE \(options.schema).\"Second\" ADD CHECK (text <> 'b')")
        }
        let other = ChangeSet(store.schema)
        try other.insert(first, rowID: 3) { $0.setInteger(0, 3) }
        let transaction = try store.backend.beginWrite()
        let results = try transaction.apply([refused, other], committing: nil)
        #expect(results.errors.map { $0?.code } == [.constraint, nil])
        #expect(results.errors[0]?.entity == "First")
        #expect(results.errors[0]?.attribute == "code")
        #expect(results.errors[0]?.rowID == nil)
        _ = try transaction.commit(.relaxed)
        #expect(try store.ids(FetchRequest(first)) == [1, 3])
        #expect(try store.ids(FetchRequest(second)) == [1])
    }

    @Test func uniqueValueThatIsTooLongIsNamedIfItIsKnown() throws {
        let texts = ["a", "b"].map { AttributeDescription(name: $0, type: .string, isOptional: true, isUnique: true) }
        let store = try Self.store([("Item", texts)])
        let item = try store.entity("Item")
        let compressible = String(repeating: "x", count: 100_000)
        func refusal(_ rows: [(a: String?, b: String?)]) throws -> StoreError {
            let changes = ChangeSet(store.schema)
            for (index, row) in rows.enumerated() {
                try changes.insert(item, rowID: Int64(index + 1)) { record in
                    if let a = row.a { record.setText(0, a) }
                    if let b = row.b { record.setText(1, b) }
                }
            }
            let error = try #require(throws: StoreError.self) { try store.write(changes) }
            #expect(error.code == .invalidValue)
            #expect(error.message.contains("2,704"))
            return error
        }
        // The server names the index.
        let named = try refusal([(compressible, nil), ("short", Self.incompressible(3000))])
        #expect((named.entity, named.attribute, named.rowID) == ("Item", "b", 2))
        // Both values are in that index, and the server does not say which one is too long.
        let unknown = try refusal([(nil, compressible), (nil, Self.incompressible(3000))])
        #expect((unknown.entity, unknown.attribute, unknown.rowID) == ("Item", "b", nil))
        // The server names no index for an entry of more than 8,191 bytes.
        let alone = try refusal([(compressible, nil), (Self.incompressible(20_000), "short")].reversed())
        #expect((alone.entity, alone.attribute, alone.rowID) == ("Item", "a", nil))
        let either = try refusal([(compressible, nil), (nil, Self.incompressible(20_000))])
        #expect((either.entity, either.attribute, either.rowID) == ("Item", nil, nil))
        #expect(either.message.contains("Item.a or Item.b"))
    }

    /// The limit is lower than that of a store, whose values would need gigabytes of memory.
    @Test func objectsAndValuesThatExceedAMessageAreRefused() throws {
        let data = ["first", "second"].map { AttributeDescription(name: $0, type: .data, isOptional: true) }
        let store = try Self.store([("File", data)])
        let file = try store.entity("File")
        let transaction = try #require(try store.backend.beginWrite() as? PostgreSQLWriteTransaction)
        defer { transaction.rollback() }
        func refusal(_ changes: ChangeSet) throws -> StoreError? {
            var writer = ChangeWriter(
                tables: transaction.session.tables, changes: changes, location: "location")
            writer.longestMessage = 20_000
            do {
                for statement in try writer.statements() {
                    _ = try statement.deferred?.encode()
                    let buffer = ByteBuffer()
                    for row in 0..<(statement.copied?.count ?? 0) { try statement.copied?.append(row, buffer) }
                }
                return nil
            } catch let error as StoreError { return error }
        }
        func insertion(_ sizes: [Int: [Int]], count: Int = 3) throws -> ChangeSet {
            let changes = ChangeSet(store.schema)
            for id in 1...count {
                try changes.insert(file, rowID: Int64(id)) { record in
                    for (field, size) in (sizes[id] ?? [10, 10]).enumerated() {
                        [UInt8](repeating: 1, count: size).withUnsafeBytes { record.setBytes(field, $0) }
                    }
                }
            }
            return changes
        }
        // Rows in arrays, and rows that are copied.
        for count in [3, ChangeWriter.leastCopied] {
            let long = try refusal(insertion([2: [20_001, 1]], count: count))
            #expect((long?.code, long?.attribute, long?.rowID) == (.invalidValue, "first", 2))
            let sum = try refusal(insertion([3: [15_000, 15_000]], count: count))
            #expect((sum?.code, sum?.entity, sum?.attribute, sum?.rowID) == (.invalidValue, "File", "second", 3))
            #expect(sum?.message.contains("20000 bytes") == true)
            // Several objects are divided into several statements.
            #expect(try refusal(insertion([1: [9000, 9000], 2: [9000, 9000], 3: [9000, 9000]], count: count)) == nil)
        }
        let updating = ChangeSet(store.schema)
        var mask = FieldMask()
        mask.insert(1)
        try updating.update(file, rowID: 5, mask: mask) { try $0.set(file.fields[1], .blob([UInt8](repeating: 1, count: 20_001))) }
        #expect(try refusal(updating)?.rowID == 5)
        let entry = ChangeSet(store.schema)
        entry.appendLogEntry([UInt8](repeating: 1, count: 20_001))
        #expect(try refusal(entry)?.code == .invalidValue)
    }

    @Test func namedValuesAreWrittenInSeveralStatements() throws {
        let store = try Store()
        let changes = ChangeSet(store.schema)
        let bytes = [UInt8](repeating: 7, count: 1 << 16)
        let numbers = 1...(2 * ChangeWriter.mostBytes / bytes.count)
        for number in numbers { try changes.setValue(bytes, named: "\(number)") }
        let transaction = try #require(try store.backend.beginWrite() as? PostgreSQLWriteTransaction)
        let connection = transaction.session.connection
        try transaction.apply(changes)
        _ = try transaction.commit(.relaxed)
        #expect(connection.mostQueuedBytes < ChangeWriter.mostBytes * 3 / 2)
        for number in [1, 2, numbers.upperBound] { #expect(try store.read { try $0.value(named: "\(number)") } == bytes) }
    }
}
