import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreSQLite

/// Names of link tables, in stores of this release and of earlier ones.
@Suite struct StoreNameTests {
    private static func schema(_ pairs: [(String, String)]) throws -> ResolvedSchema {
        try ResolvedSchema(
            SchemaDescription(
                name: "names",
                entities: Set(pairs.map(\.0)).sorted().map { entity in
                    EntityDescription(
                        name: entity,
                        properties: pairs.filter { $0.0 == entity }.map {
                            .relationship(RelationshipDescription(name: $0.1, destination: pairs[0].0, isToMany: true))
                        })
                }))
    }

    /// All other tables keep their names.
    @Test func onlyNamesThatWouldBeTheSameAreLonger() throws {
        let plain = try Self.schema([("A", "b_c"), ("A_b", "d")])
        #expect(plain.links.map(\.name).sorted() == ["A_b_c", "A_b_d"])
        #expect(plain.links.allSatisfy { $0.sharedName == nil })
        let shared = try Self.schema([("A", "b_c"), ("A_b", "c"), ("A", "b_c_3"), ("A_b", "d")])
        #expect(shared.links.map(\.name).sorted() == ["A_b_c_1", "A_b_c_3", "A_b_c_3_", "A_b_d"])
    }

    /// A store in which an earlier release put the links of two relationships into one table, so that they are indistinguishable.
    @Test func aStoreWithTheLinksOfTwoInOneTableIsRefused() throws {
        let folder = try Folder()
        let schema = try Self.schema([("A", "b_c"), ("A_b", "c")])
        try Store(folder.file("test.sqlite"), schema).backend.close()
        let plain = try PlainSQL(folder.file("test.sqlite"))
        try plain.rows("DROP TABLE A_b_c_1")
        try plain.rows("ALTER TABLE A_b_c_3 RENAME TO A_b_c")
        let error = try requireFailure { _ = try Store(folder.file("test.sqlite"), schema) }
        #expect(error.code == .incompatibleSchema)
        #expect(error.message.contains("A_b_c"))
    }
}
