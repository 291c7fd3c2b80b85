import Foundation
import PolyStore
import PolyStoreBackend
import PolyStoreCore
import TestSupport
import Testing

/// A value that a default expression computes.
private let counter = Protected(0)

private func nextNumber() -> Int {
    counter.withLock { number in
        number += 1
        return number
    }
}

private struct Label: Codable, Sendable, Hashable {
    var id = UUID()
}

@Model
private final class Ticket {
    var title: String = ""
    var seat: UUID = UUID()
    var issued: Date = Date()
    @Attribute(.unique) var code: UUID = UUID()
    var number: Int = nextNumber()
    var label: Label = Label()
    var price: Decimal = Decimal(3)
    var valid: Date = Date(timeIntervalSinceReferenceDate: 10)
    var tags: [String] = [String]()
    var later: Date? = .now
    var opened = Date()
}

@Model
private final class Pass {
    var title: String = ""
    var price: Decimal = Decimal(3)
    var valid: Date = Date(timeIntervalSinceReferenceDate: 10)
    var tags: [String] = []
    var color: String = String("red")
}

/// An added attribute with a default expression has a fresh value in every object.
@Suite
struct DefaultExpressionTests {
    private static let entities = [
        EntityDescription(
            name: "Ticket",
            properties: [
                .attribute(AttributeDescription(name: "title", type: .string)),
                .attribute(AttributeDescription(name: "seat", type: .uuid, isOptional: true)),
            ])
    ]
    private static let earlier = LockedSchema("Tickets 1", entities: entities)
    private static let kept = UUID()

    private func fill(_ store: StoreConfiguration, count: Int64) throws {
        let schema = try ResolvedSchema(Self.earlier.description(ofConfiguration: nil))
        let backend = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
        let writer = try backend.beginWrite()
        let changes = ChangeSet(schema)
        _ = try writer.reserveIDs(schema.entities[0], count: Int(count))
        for id in 1...count {
            try changes.insert(schema.entities[0], rowID: id) { builder in
                try builder.set(schema.entities[0].fields[0], .text("ticket \(id)"))
                if id == 2 { try builder.set(schema.entities[0].fields[1], Self.kept.attributeValue) }
            }
        }
        try writer.apply(changes)
        _ = try writer.commit(.full)
        try backend.close()
    }

    private func check(_ store: StoreConfiguration, _ history: SchemaHistory, _ policy: MigrationPolicy, count: Int, _ what: String)
        async throws
    {
        let start = Date()
        let stack = try DataStack(history, logger: SilentLogger())
        try await stack.addStore(store, migrating: policy)
        let end = Date()
        let facts = try await stack.read { context in
            try context.fetchAll(From<Ticket>(), OrderBy(.ascending(\.title))).map {
                (
                    $0.title, [$0.seat, $0.code, $0.label.id], [$0.issued, $0.opened, $0.later ?? .distantPast], $0.number,
                    ($0.price, $0.valid, $0.tags)
                )
            }
        }
        #expect(facts.count == count, "\(what)")
        for column in 0..<3 { #expect(Set(facts.map { $0.1[column] }).count == count, "\(what), \(column)") }
        #expect(facts[1].1[0] == Self.kept, "\(what)")
        #expect(Set(facts.map(\.3)).count == count, "\(what)")
        for fact in facts {
            for date in fact.2 { #expect((start...end).contains(date), "\(what)") }
            #expect(fact.4 == (3, Date(timeIntervalSinceReferenceDate: 10), []), "\(what)")
        }
        #expect(try stack.stores[0].verifyAndWait() == [])
    }

    @Test("an added UUID(), Date() or any other expression is evaluated for every existing object", arguments: Backend.persistent)
    func fresh(_ backend: Backend) async throws {
        let folder = try Folder()
        let count = 5
        let current = Schema("Tickets 2", Ticket.self)
        let store = backend.store(in: folder)
        try fill(store, count: Int64(count))
        let rehearsed = try await DataStack(current, logger: SilentLogger()).rehearseMigration(of: store, migrating: .lightweight)
        #expect(rehearsed.isPossible, "\(rehearsed)")
        try await check(store, SchemaHistory(current), .lightweight, count: count, "lightweight")

        let mapped = backend.store(in: folder, "mapped")
        try fill(mapped, count: Int64(count))
        let mapping = SchemaMapping(from: "Tickets 1", to: "Tickets 2", [.update("Ticket") { _, _ in }])
        let chain: MigrationChain = ["Tickets 1", "Tickets 2"]
        try await check(
            mapped, SchemaHistory(Self.earlier, current, migrationChain: chain, mappings: [mapping]), .chain, count: count, "mapping")

        // The same attributes arrive with a version without classes, except those that only a class can compute.
        let chained = backend.store(in: folder, "chained")
        try fill(chained, count: Int64(count))
        var between = current.locked.entities
        between[0].remove("number")
        between[0].remove("label")
        let history = SchemaHistory(
            Self.earlier, LockedSchema("Tickets 1.5", entities: between), current,
            migrationChain: ["Tickets 1", "Tickets 1.5", "Tickets 2"])
        try await check(chained, history, .chain, count: count, "chain")
    }

    @Test("an object that a mapping inserts has values of its own", arguments: Backend.persistent)
    func inserted(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        try fill(store, count: 1)
        let current = Schema("Tickets 2", Ticket.self)
        let mapping = SchemaMapping(
            from: "Tickets 1", to: "Tickets 2",
            [
                .transform("Ticket", to: "Ticket") { _, migration in
                    for number in 1...4 { try migration.insert("Ticket")["title"] = .text("\(number)") }
                }
            ])
        let stack = try DataStack(SchemaHistory(Self.earlier, current, mappings: [mapping]), logger: SilentLogger())
        try await stack.addStore(store, migrating: .chain)
        let codes = try await stack.read { try $0.fetchAll(From<Ticket>()).map(\.code) }
        #expect(codes.count == 4 && Set(codes).count == 4)
    }

    @Test("constants stay constants: no object is rewritten", arguments: Backend.persistent)
    func constants(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        var entities = Self.entities
        entities[0].name = "Pass"
        entities[0].remove("seat")
        let schema = try ResolvedSchema(SchemaDescription(name: "Passes 1", entities: entities))
        let old = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
        try old.close()
        let stack = try DataStack(Schema("Passes 2", Pass.self), logger: SilentLogger())
        let report = try await stack.upgradeStoreIfNeeded(store, migrating: .lightweight)
        #expect(report.steps.count == 1 && report.steps[0].rewrittenObjects == 0)
        for case .attribute(let attribute) in Schema("Passes 2", Pass.self).locked.entities[0].properties {
            #expect(attribute.defaultExpression == nil && attribute.defaultValue != nil, "\(attribute.name)")
        }
    }

    @Test("a locked schema prints the kind of an expression, the same each time")
    func locked() throws {
        let text = "\(Schema("Tickets 2", Ticket.self).locked)"
        #expect(text == "\(Schema("Tickets 2", Ticket.self).locked)")
        #expect(Schema("Tickets 2", Ticket.self).locked == Schema("Tickets 2", Ticket.self).locked)
        for line in [
            "name: \"seat\", type: .uuid, defaultExpression: .uuid)", "name: \"issued\", type: .date, defaultExpression: .date)",
            "name: \"code\", type: .uuid, isUnique: true, defaultExpression: .uuid)",
            "name: \"number\", type: .int64, defaultExpression: .computed)",
            "name: \"label\", type: .json, defaultExpression: .computed)",
            "name: \"later\", type: .date, isOptional: true, defaultExpression: .date)",
            "name: \"opened\", type: .date, defaultExpression: .date)",
            "name: \"valid\", type: .date, defaultValue: .real(10.0))", "name: \"tags\", type: .json, defaultValue: .text(\"[]\"))",
        ] { #expect(text.contains(line), "\(line)\n\(text)") }
    }
}
