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

    /// The limit is lower than that of a store, whose values would need gigabytes of memory.
    @Test func objectsAndValuesThatExceedAMessageAreRefused() throws {
        let data = ["first", "second"].map { AttributeDescription(name: $0, type: .data, isOptional: true) }
        let store = try Self.store([("File", data)])
        let file = try store.entity("File")
        let transaction = try #require(try store.backend.beginWrite() as? PostgreSQLWriteTransaction)
        defer { transaction.rollback() }
        func refusal(_ changes: ChangeSet) throws -> StoreError? {
            var writer = ChangeWriter(
                tables: transaction.session.tables, changes: changes, version: transaction.version + 1, location: "location")
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
