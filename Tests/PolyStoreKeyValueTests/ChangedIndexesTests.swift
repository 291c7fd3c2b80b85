import EngineTestSupport
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreKeyValue

/// Schemas that differ in plain indexes only.
@Suite struct ChangedIndexesTests {
    private static func schema(_ indexed: Set<String>, deleteRule: DeleteRule = .nullify) throws -> ResolvedSchema {
        try Migrations.schema(
            EntityDescription(
                name: "Person",
                properties: ["name", "city", "street"].map { Migrations.attribute($0, .string, indexed: indexed.contains($0)) } + [
                    Migrations.attribute("email", .string, unique: true),
                    .relationship(RelationshipDescription(name: "boss", destination: "Person", isToMany: false, deleteRule: deleteRule)),
                ]))
    }

    private static let count: Int64 = 1050

    private static func filled(_ engine: TestEngine = TestEngine()) throws -> Opened {
        let opened = try Opened(engine, schema(["name"]))
        try opened.store.write { changes in
            for id in 1...count {
                try changes.insert(
                    "Person", id,
                    ["name": .text("n\(id % 9)"), "city": .text("c\(id % 7)"), "street": .text("s\(id % 5)"), "email": .text("\(id)")])
            }
        }
        try opened.backend.close()
        return opened
    }

    private func request(_ opened: Opened, _ field: String, _ value: String) throws -> FetchRequest {
        FetchRequest(try opened.store.entity("Person"), predicate: .compare(try opened.store.field("Person", field), .equal, .text(value)))
    }

    private func isScan(_ opened: Opened, _ field: String) throws -> Bool {
        let request = try request(opened, field, "x")
        return try opened.store.read { try $0.plan(request).isScan }
    }

    private func expectAnswers(_ opened: Opened) throws {
        #expect(try opened.store.ids(request(opened, "city", "c3")) == (1...Self.count).filter { $0 % 7 == 3 })
        #expect(try opened.store.ids(request(opened, "name", "n3")) == (1...Self.count).filter { $0 % 9 == 3 })
    }

    @Test func newIndexesAreBuiltInTheBackgroundAndOldOnesRemoved() throws {
        let engine = try Self.filled().engine
        let log = RecordingLogger(.trace)
        let opened = try Opened(engine, Self.schema(["city", "street"]), logger: log)
        // Whether or not the index is complete.
        try expectAnswers(opened)
        opened.backend.waitForBackgroundWork()
        try expectAnswers(opened)
        #expect(try !isScan(opened, "city"))
        #expect(try isScan(opened, "name"))
        #expect(try opened.backend.verify() == [])
        #expect(opened.backend.indexBuild == nil)
        #expect(opened.backend.metadata.format == 1)
        #expect(log.lines.contains { $0.contains("Person_city") && $0.contains("\(Self.count)") })
        #expect(engine.keys([Keyspace.index.rawValue]).count == 3 * Int(Self.count))
        try opened.store.write { try $0.update("Person", 3, ["city": .text("changed")]) }
        #expect(try opened.store.ids(request(opened, "city", "changed")) == [3])
        #expect(try opened.store.read { try $0.version } == 2)
        try opened.backend.close()
        // The same schema again changes nothing.
        let keys = engine.keys()
        let again = try Opened(engine, Self.schema(["city", "street"]))
        again.backend.waitForBackgroundWork()
        #expect(engine.keys() == keys)
    }

    @Test func declarationsThatAreNotStoredAreAdopted() throws {
        let engine = try Self.filled().engine
        let opened = try Opened(engine, Self.schema(["name"], deleteRule: .cascade))
        #expect(try opened.backend.verify() == [])
        try expectAnswers(opened)
        #expect(
            failure { _ = try Opened(engine, try Migrations.schema(EntityDescription(name: "Person", properties: []))) }?.code
                == .migrationRequired)
    }

    /// Each commit of the schema change and of the build fails in turn.
    @Test func buildingIsContinuedByTheNextOpening() throws {
        let whole = try Self.filled().engine
        var partial = 0
        for commits in 0..<12 {
            let engine = whole.copy()
            engine.fail(after: commits)
            let first = Result { try Opened(engine, try Self.schema(["city", "street"])) }
            if case .success(let opened) = first {
                opened.backend.waitForBackgroundWork()
                try expectAnswers(opened)
                if try opened.state("Person_city")?.phase == .writeOnly { partial += 1 }
                try opened.backend.close()
            } else {
                #expect(commits == 0)
                try Opened(engine.copy(), Self.schema(["name"])).backend.close()
            }
            engine.fail(after: nil)
            let opened = try Opened(engine, Self.schema(["city", "street"]))
            opened.backend.waitForBackgroundWork()
            try expectAnswers(opened)
            #expect(try opened.backend.verify() == [])
            #expect(try !isScan(opened, "city"))
        }
        #expect(partial > 2)
    }

    @Test func readerWorksWithoutTheMissingIndex() throws {
        let engine = try Self.filled().engine
        let keys = engine.keys()
        let reader = try Opened(engine, Self.schema(["city"]), isReadOnly: true)
        try expectAnswers(reader)
        #expect(try isScan(reader, "city"))
        #expect(try reader.backend.verify() == [])
        #expect(engine.keys() == keys)
    }

    @Test func closingEndsTheBuilding() throws {
        let engine = try Self.filled().engine
        for _ in 0..<5 {
            let opened = try Opened(engine.copy(), Self.schema(["city", "street"]))
            let transaction = try opened.backend.beginWrite()
            try opened.backend.close()
            transaction.rollback()
        }
        // Writers proceed while an index is built.
        let opened = try Opened(engine, Self.schema(["city", "street"]))
        for id in Int64(2000)..<2050 { try opened.store.write { try $0.insert("Person", id, ["city": .text("new")]) } }
        opened.backend.waitForBackgroundWork()
        #expect(try opened.store.ids(request(opened, "city", "new")) == Array(2000..<2050))
        #expect(try opened.backend.verify() == [])
    }
}
