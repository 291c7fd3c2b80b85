import PolyStoreBackend
import PolyStoreQuery
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Change sets that the server refuses: the object that the error names, and the transaction afterwards.
@Suite(.withServer) struct RefusalTests {
    private static func store(_ entities: [(name: String, attributes: [AttributeDescription])]) throws -> Store {
        try Store(
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
}
