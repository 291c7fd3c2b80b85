import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreMemory
import PostgreSQLServer
import TestModels
import TestSupport
import Testing

/// Indexes that would let a fetch read fewer rows.
@Suite struct IndexAdviceTests {
    private static let count = 2000
    /// Makes a table so long that the planner of PostgreSQL prefers an index to a scan.
    private static let note = String(repeating: "x", count: 1200)

    /// Returns the schema with indexes of people.
    private static func schema(_ indexes: [IndexDescription] = []) throws -> Schema {
        let people = EntityDescription(
            name: "Person",
            properties: [
                .attribute(AttributeDescription(name: "number", type: .int64, isUnique: true)),
                .attribute(AttributeDescription(name: "name", type: .string)),
                .attribute(AttributeDescription(name: "city", type: .string)),
                .attribute(AttributeDescription(name: "country", type: .string, isOptional: true)),
                .attribute(AttributeDescription(name: "age", type: .int64)), .attribute(AttributeDescription(name: "note", type: .string)),
                .attribute(AttributeDescription(name: "score", type: .double)),
                .relationship(RelationshipDescription(name: "boss", destination: "Person", isToMany: false)),
            ], indexes: indexes)
        return try Schema(SchemaDescription(name: "People", entities: [people]))
    }

    private static func fill(_ stack: DataStack) throws {
        try stack.performAndWait { transaction in
            var bosses: [DynamicObject] = []
            for number in 0..<count {
                let person = try transaction.create(
                    "Person",
                    [
                        "number": .integer(Int64(number)), "name": .text("n\(number * 7919 % count)"), "city": .text("c\(number % 50)"),
                        "country": number % 20 == 0 ? nil : .text("l\(number % 4)"), "age": .integer(Int64(number * 31 % 100)),
                        "score": .real(Double(number * 17 % count)), "note": .text(note),
                    ])
                if number < 1000 { bosses.append(person) }
                try person.set("boss", to: bosses[number % 1000 / 2])
            }
        }
    }

    private static func opened<R>(_ store: StoreConfiguration, _ schema: Schema, _ body: (DataStack) throws -> R) throws -> R {
        let stack = try DataStack(schema)
        try stack.addStore(store)
        return try Stored.closing(stack, body)
    }

    /// Returns the plan of a query when the index is complete, which is built in the background.
    private static func planWithIndex(of query: EntityQuery, _ index: IndexDescription, _ stack: DataStack) throws -> QueryPlan {
        let name = "Person_\(index.fields.joined(separator: "_"))"
        let end = ContinuousClock.now + .seconds(600)
        while true {
            let plan = try #require(try stack.readAndWait { try $0.plans(query) }.first)
            if plan.accesses.contains(where: { $0.index == name }) { return plan }
            // Its plans depend on statistics, which the server collects at a time of its own otherwise.
            if let table = plan.engine.first?.firstMatch(of: /FROM ("dynamic_\d+"\."Person")/)?.1 {
                try PostgreSQLServer.shared.get().psql("ANALYZE \(table)")
            }
            try #require(ContinuousClock.now < end, "\(name) is not used: \(plan)")
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    private struct Case: Sendable {
        let query: EntityQuery
        let fields: [String]
        let rows: Int
    }

    private static let cases = [
        Case(query: EntityQuery("Person").where("city == 'c7'"), fields: ["city"], rows: 40),
        Case(query: EntityQuery("Person").where("city == 'c7' AND age > 70"), fields: ["city", "age"], rows: 0),
        Case(query: EntityQuery("Person").where("age >= 98 AND city CONTAINS '7'"), fields: ["age"], rows: 40),
        Case(query: EntityQuery("Person").where("name BEGINSWITH 'n199'"), fields: ["name"], rows: 11),
        Case(query: EntityQuery("Person").where("city IN {'c1', 'c2'} AND country == 'l1'"), fields: ["city", "country"], rows: 20),
        Case(query: EntityQuery("Person").orderBy("score", ascending: false).limit(5), fields: ["score"], rows: 5),
        Case(query: EntityQuery("Person").where("country == 'l1'").orderBy("score").limit(5), fields: ["country", "score"], rows: 5),
        Case(query: EntityQuery("Person").where("country == nil AND city == 'c0'"), fields: ["city", "country"], rows: 20),
        // An index on both would have the rows of each city in order, not those of both.
        Case(query: EntityQuery("Person").where("city IN {'c1', 'c2'}").orderBy("score").limit(5), fields: ["city"], rows: 80),
        Case(query: EntityQuery("Person").where("age > 3 AND age < 97").orderBy("age").limit(5), fields: ["age"], rows: 5),
    ]

    @Test(arguments: [Engine.files(.memory)] + Engine.all)
    func advisedIndexesAreUsedAndReadTheRowsThatAreAdvised(_ engine: Engine) throws {
        let folder = try Folder()
        var store = try engine.store(in: folder)
        let advice = try Self.opened(store, Self.schema()) { stack in
            try Self.fill(stack)
            return try stack.readAndWait { context in try Self.cases.map { try context.indexAdvice($0.query) } }
        }
        for (number, expected) in Self.cases.enumerated() {
            let found = try #require(advice[number].first, "case \(number)")
            #expect(advice[number].count == 1)
            #expect(found.entity == "Person")
            #expect(Set(found.index.fields) == Set(expected.fields), "case \(number)")
            #expect(found.rowsNow >= Self.count, "case \(number)")
            #expect(found.rowsWithIndex == expected.rows, "case \(number)")
            #expect(!found.isEstimated)
            // A store in memory ends with its stack.
            if engine == .files(.memory) { store = try engine.store(in: folder) }
            try Self.opened(store, Self.schema([found.index])) { stack in
                if engine == .files(.memory) { try Self.fill(stack) }
                let plan = try Self.planWithIndex(of: expected.query, found.index, stack)
                let examined = try #require(plan.rowsExamined)
                #expect(examined < found.rowsNow, "case \(number)")
                // The planner of PostgreSQL can sort the rows of a condition rather than read an index in order.
                let most = engine == .postgreSQL && expected.query.options.limit != nil ? found.rowsNow / 2 : found.rowsWithIndex + 1
                #expect(examined <= most, "case \(number): \(plan)")
                #expect(try stack.readAndWait { try $0.indexAdvice(expected.query) } == [], "case \(number)")
            }
        }
    }

    /// The store first finds the related objects, for which it reads all of them without an index.
    @Test(arguments: [Engine.files(.memory)] + Engine.all)
    func indexesForConditionsOnRelatedObjectsAreUsed(_ engine: Engine) throws {
        let folder = try Folder()
        var store = try engine.store(in: folder)
        let query = EntityQuery("Person").where("boss.name == 'n7'")
        let (advice, before) = try Self.opened(store, Self.schema()) { stack in
            try Self.fill(stack)
            return try stack.readAndWait { (try $0.indexAdvice(query), try $0.plans(query)) }
        }
        let found = try #require(advice.first)
        #expect(advice.map(\.index.fields) == [["name"]])
        #expect(found.rowsWithIndex == 1)
        #expect(found.rowsNow == Self.count)
        if engine == .files(.memory) { store = try engine.store(in: folder) }
        try Self.opened(store, Self.schema([found.index])) { stack in
            if engine == .files(.memory) { try Self.fill(stack) }
            _ = try Self.planWithIndex(of: EntityQuery("Person").where("name == 'n7'"), found.index, stack)
            let after = try stack.readAndWait { try $0.plans(query) }
            let (related, relatedBefore) = (try #require(after.first?.relatedRowsExamined), try #require(before.first?.relatedRowsExamined))
            #expect(relatedBefore >= Self.count)
            #expect(related < 10, "\(after)")
            #expect(try stack.readAndWait { try $0.indexAdvice(query) } == [])
        }
    }

    @Test(arguments: [Engine.files(.memory)] + Engine.all)
    func nothingIsAdvisedWhereNoIndexHelps(_ engine: Engine) throws {
        let folder = try Folder()
        let store = try engine.store(in: folder)
        try Self.opened(store, Self.schema()) { stack in
            #expect(try stack.readAndWait { try $0.indexAdvice(EntityQuery("Person").where("city == 'c7'")) } == [], "an empty store")
            try Self.fill(stack)
            let queries = [
                EntityQuery("Person"), EntityQuery("Person").where("number == 7"), EntityQuery("Person").where("age >= 0"),
                EntityQuery("Person").where("city == 'c1' OR age == 2"), EntityQuery("Person").orderBy("score"),
                EntityQuery("Person").where("age * 2 == 4"),
                EntityQuery("Person").where("city != 'c1'"),
                EntityQuery("Person").where("city == 'c7'").limit(0),
            ]
            for (number, query) in queries.enumerated() {
                #expect(try stack.readAndWait { try $0.indexAdvice(query) } == [], "case \(number)")
            }
            let error = failure { _ = try stack.readAndWait { try $0.indexAdvice(EntityQuery("Nobody")) } }
            #expect(error?.code == .storeNotFound)
        }
    }

    /// The rest of the condition decides how many rows are read until enough are found.
    @Test(arguments: Backend.forObjectLayer) func anEstimateSaysThatItIsOne(_ backend: Backend) throws {
        let folder = try Folder()
        try Self.opened(backend.store(in: folder), Self.schema()) { stack in
            try Self.fill(stack)
            let query = EntityQuery("Person").where("city CONTAINS '7'").orderBy("score").limit(4)
            let advice = try #require(try stack.readAndWait { try $0.indexAdvice(query) }.first)
            #expect(advice.index.fields == ["score"])
            // 200 of 2000 satisfy the condition.
            #expect(advice.rowsWithIndex == 40)
            #expect(advice.isEstimated)
            #expect(advice.description == "@Attribute(.indexed) var score in Person: 40 rows read (estimated) instead of 2000")
        }
    }

    @Test func fetchesOfClassesGetAdviceToo() throws {
        let stored = try Stored(.files(.sqlite), Stored.company, Stored.fillCompany)
        try stored.withClasses { stack in
            let advice = try stack.readAndWait { try $0.indexAdvice(From<Department>().where(\.title == "Sales")) }
            #expect(advice.map(\.declaration) == ["@Attribute(.indexed) var title"])
            #expect(advice.map(\.rowsWithIndex) == [1])
            #expect(try stack.readAndWait { try $0.indexAdvice(From<Person>().where(\.age > 40)) } == [], "age has an index")
        }
    }
}
