import EngineTestSupport
import PolyStoreBackend
import SeededRandom
import TestSupport
import Testing

@testable import PolyStoreKeyValue

/// Records in layouts of earlier schemas.
@Suite struct LayoutTests {
    private static let long = [UInt8](repeating: 7, count: 200_000)

    private static func source() throws -> ResolvedSchema {
        try Migrations.schema(
            EntityDescription(
                name: "Item",
                properties: [
                    Migrations.attribute("small", .int16), Migrations.attribute("text", .string, indexed: true),
                    Migrations.attribute("photo", .data), Migrations.attribute("gone", .string),
                    Migrations.attribute("ratio", .float, indexed: true), Migrations.attribute("flag", .bool, optional: false),
                    Migrations.attribute("link", .url),
                ]))
    }

    /// A schema with another field order, other names, wider types, constants, and values for null.
    private static func target() throws -> ResolvedSchema {
        try Migrations.schema(
            EntityDescription(
                name: "Thing",
                properties: [
                    Migrations.attribute("added", .string, optional: false), Migrations.attribute("photo", .data),
                    Migrations.attribute("wide", .int64, optional: false, indexed: true), Migrations.attribute("address", .string),
                    Migrations.attribute("text", .string, indexed: true), Migrations.attribute("ratio", .double, indexed: true),
                    Migrations.attribute("extra", .uuid), Migrations.attribute("flag", .bool, optional: false),
                    Migrations.attribute("number", .uint8),
                ]))
    }

    private static func change() throws -> SchemaChange {
        try SchemaChange.byName(
            source(), target(), entities: ["Thing": "Item"],
            fields: [
                "Thing": [
                    "added": .constant(.text("new")), "wide": .field(0, replacingNullWith: .integer(-1)),
                    "address": .field(6, replacingNullWith: .text("none")), "number": .constant(.integer(200)),
                ]
            ])
    }

    private static func item(_ id: Int64) -> [String: Value] {
        var values: [String: Value] = ["flag": .integer(id % 2), "text": .text("text \(id % 10)"), "ratio": .real(Double(Float(id) / 3))]
        if id % 3 != 0 { values["small"] = .integer(id % 100 - 50) }
        if id % 4 == 0 { values["photo"] = .blob(id % 8 == 0 ? long : [1, 2, UInt8(id % 200)]) }
        if id % 5 == 0 { values["gone"] = .text(id % 10 == 0 ? String(repeating: "x", count: 70_000) : "gone") }
        if id % 7 == 0 { values["link"] = .text("https://\(id)") }
        return values
    }

    private static func thing(_ id: Int64) -> [String: Value] {
        let old = item(id)
        var values: [String: Value] = ["added": .text("new"), "number": .integer(200), "wide": old["small"] ?? .integer(-1)]
        values["address"] = old["link"] ?? .text("none")
        for name in ["flag", "text", "ratio", "photo"] { values[name] = old[name] }
        return values
    }

    private func filled(_ engine: TestEngine, _ count: Int64 = 120) throws -> Opened {
        let opened = try Opened(engine, Self.source())
        try opened.store.write { changes in for id in 1...count { try changes.insert("Item", id, Self.item(id)) } }
        return opened
    }

    @Test(arguments: [true, false])
    func recordsAreTranslatedWithoutBeingWritten(_ checksums: Bool) throws {
        let engine = TestEngine(checksumsRecords: checksums)
        let before = try filled(engine)
        let records = engine.keys([Keyspace.record.rawValue]).map { engine[$0] }
        let opened = try before.migrated(Self.change())
        #expect(engine.keys([Keyspace.record.rawValue]).map { engine[$0] } == records)
        #expect(try opened.all("Thing") == Dictionary(uniqueKeysWithValues: (1...120).map { ($0, Self.thing($0)) }))
        #expect(try opened.backend.verify() == [])
        #expect(opened.backend.metadata.format == 2)
        #expect(try opened.store.read { try $0.version } == 2)
    }

    @Test(arguments: [true, false])
    func updatesAndDeletesMoveRecordsToTheCurrentLayout(_ checksums: Bool) throws {
        let engine = TestEngine(checksumsRecords: checksums)
        let opened = try filled(engine).migrated(Self.change())
        var expected = Dictionary(uniqueKeysWithValues: (Int64(1)...120).map { ($0, Self.thing($0)) })
        try opened.store.write { changes in
            for id in stride(from: Int64(1), through: 120, by: 3) {
                try changes.update("Thing", id, ["text": .text("changed")])
                expected[id]?["text"] = .text("changed")
            }
            for id in stride(from: Int64(2), through: 120, by: 6) {
                try changes.delete("Thing", id)
                expected[id] = nil
            }
            // The photo of 24 was in chunks of its old field.
            try changes.update("Thing", 24, ["photo": .blob([9])])
            expected[24]?["photo"] = .blob([9])
            for id in Int64(200)...210 {
                try changes.insert("Thing", id, Self.thing(id))
                expected[id] = Self.thing(id)
            }
        }
        #expect(try opened.all("Thing") == expected)
        #expect(try opened.backend.verify() == [])
        // Aggregates and conditions over both layouts, by record heads and by complete records.
        let thing = try opened.store.entity("Thing")
        try opened.store.read { transaction in
            for name in ["wide", "number"] {
                let ids = Dictionary(grouping: expected.keys) { expected[$0]?[name] ?? .null }
                for value in Int64(-50)...60 {
                    let predicate = QueryPredicate.compare(try opened.store.field("Thing", name), .equal, .integer(value))
                    let wanted = ids[.integer(value), default: []].sorted()
                    for ignoresIndexes in [true, false] {
                        var request = FetchRequest(thing, predicate: predicate)
                        request.ignoresIndexes = ignoresIndexes
                        #expect(try transaction.ids(request) == wanted)
                        #expect(try transaction.count(request) == wanted.count)
                    }
                }
            }
        }
    }

    @Test func damageInAnOldLayoutIsFound() throws {
        let engine = TestEngine()
        let opened = try filled(engine).migrated(Self.change())
        let key = try opened.record("Thing", 5)
        let whole = try #require(engine[key])
        for (offset, byte) in [(2, UInt8(9)), (0, 7), (20, 0xff), (whole.count - 1, 0x55)] {
            var bytes = whole
            bytes[offset] = bytes[offset] ^ byte
            engine[key] = bytes
            #expect(failure { _ = try opened.store.values("Thing", 5) }?.code == .corrupt)
            #expect(failure { _ = try opened.all("Thing") }?.code == .corrupt)
            #expect(try !opened.backend.verify().isEmpty)
        }
        engine[key] = whole
        // A metadata entry.
        let layout = try #require(engine.keys([0, Keyspace.Metadata.oldLayout.rawValue]).first)
        var bytes = try #require(engine[layout])
        bytes[3] ^= 1
        engine[layout] = bytes
        try opened.backend.close()
        #expect(failure { _ = try Opened(engine, Self.target()) }?.code == .corrupt)
    }

    @Test func anEntityWithoutRecordsKeepsNoOldLayout() throws {
        let engine = TestEngine()
        let opened = try Opened(engine, Self.source()).migrated(Self.change())
        #expect(engine.keys([0, Keyspace.Metadata.oldLayout.rawValue]) == [])
        try opened.store.write { try $0.insert("Thing", 1, Self.thing(1)) }
        #expect(try opened.store.values("Thing", 1) == Self.thing(1))
        let predicate = QueryPredicate.compare(try opened.store.field("Thing", "number"), .equal, .integer(200))
        #expect(try opened.store.ids("Thing", predicate) == [1])
        #expect(try opened.backend.verify() == [])
    }

    /// Widening a field creates a layout; a field whose bytes stay the same does not.
    @Test func aWiderTypeIsAnotherLayout() throws {
        func schema(_ type: AttributeType, _ text: AttributeType) throws -> ResolvedSchema {
            try Migrations.schema(
                EntityDescription(
                    name: "Item", properties: [Migrations.attribute("number", type, indexed: true), Migrations.attribute("text", text)]))
        }
        let engine = TestEngine()
        var opened = try Opened(engine, schema(.int16, .url))
        try opened.store.write { try $0.insert("Item", 1, ["number": .integer(-300), "text": .text("a")]) }
        opened = try opened.migrated(SchemaChange.byName(schema(.int16, .url), schema(.int16, .string)))
        #expect(engine.keys([0, Keyspace.Metadata.oldLayout.rawValue]).isEmpty)
        #expect(opened.backend.metadata.format == 1)
        opened = try opened.migrated(SchemaChange.byName(schema(.int16, .string), schema(.int32, .string)))
        #expect(engine.keys([0, Keyspace.Metadata.oldLayout.rawValue]).count == 1)
        opened = try opened.migrated(SchemaChange.byName(schema(.int32, .string), schema(.int64, .string)))
        try opened.store.write { try $0.insert("Item", 2, ["number": .integer(1 << 40)]) }
        #expect(try opened.all("Item") == [1: ["number": .integer(-300), "text": .text("a")], 2: ["number": .integer(1 << 40)]])
        let predicate = QueryPredicate.compare(try opened.store.field("Item", "number"), .less, .integer(0))
        #expect(try opened.store.ids("Item", predicate) == [1])
        #expect(try opened.backend.verify() == [])
    }

    // MARK: Many migrations

    private struct Spec: Equatable {
        var name: String
        var type: AttributeType
        var isOptional: Bool
        var isIndexed: Bool
    }

    private struct Model {
        var random: SplitMix64
        var fields: [Spec]
        var rows: [Int64: [String: Value]] = [:]
        var names = 0

        mutating func name() -> String {
            names += 1
            return "f\(names)"
        }

        mutating func value(_ type: AttributeType) -> Value {
            switch type {
            case .bool: .integer(Int64(random.below(2)))
            case .int16, .int32, .int64: .integer(Int64(random.below(40)) - 20)
            case .float, .double: .real(Double(Float(random.below(100)) / 7))
            case .data: .blob(random.bytes(random.below(8) == 0 ? 900 : random.below(20)))
            default: .text(String(repeating: "t\(random.below(9))", count: random.below(10) == 0 ? 300 : 1 + random.below(3)))
            }
        }

        mutating func spec() -> Spec {
            let types: [AttributeType] = [.bool, .int16, .int32, .int64, .float, .double, .string, .url, .data]
            return Spec(
                name: name(), type: types[random.below(types.count)], isOptional: random.below(3) > 0, isIndexed: random.below(3) == 0)
        }

        mutating func row() -> [String: Value] {
            var row: [String: Value] = [:]
            for field in fields where !field.isOptional || random.below(3) > 0 { row[field.name] = value(field.type) }
            return row
        }

        func schema() throws -> ResolvedSchema {
            try Migrations.schema(
                EntityDescription(
                    name: "Row",
                    properties: fields.map {
                        Migrations.attribute($0.name, $0.type, optional: $0.isOptional, indexed: $0.isIndexed)
                    }))
        }

        /// Returns the change to the next schema, and updates the expected rows.
        mutating func migrate() throws -> SchemaChange {
            let source = try schema()
            var next: [Spec] = []
            var origins: [String: SchemaChange.FieldSource] = [:]
            for (fieldIndex, field) in fields.enumerated() where random.below(6) > 0 {
                var field = field
                let old = field.name
                if random.below(4) == 0 { field.name = name() }
                if random.below(4) == 0 { field.isIndexed.toggle() }
                switch (field.type, random.below(3)) {
                case (.int16, 0): field.type = .int32
                case (.int32, 0): field.type = .int64
                case (.float, 0): field.type = .double
                case (.url, 0): field.type = .string
                default: break
                }
                var replacement = Value.null
                if field.isOptional, random.below(4) == 0 {
                    field.isOptional = random.below(2) == 0
                    replacement = value(field.type)
                } else if random.below(4) == 0 {
                    field.isOptional = true
                }
                origins[field.name] = .field(fieldIndex, replacingNullWith: replacement)
                for id in rows.keys {
                    let value = rows[id]?.removeValue(forKey: old) ?? replacement
                    rows[id]?["new \(field.name)"] = value.isNull ? nil : value
                }
                next.append(field)
            }
            for id in rows.keys {
                rows[id] = (rows[id] ?? [:]).reduce(into: [:]) { row, value in
                    if value.key.hasPrefix("new ") { row[String(value.key.dropFirst(4))] = value.value }
                }
            }
            for _ in 0...random.below(3) {
                let field = spec()
                let constant = field.isOptional && random.below(2) == 0 ? .null : value(field.type)
                origins[field.name] = .constant(constant)
                for id in rows.keys { rows[id]?[field.name] = constant.isNull ? nil : constant }
                next.insert(field, at: random.below(next.count + 1))
            }
            fields = next
            return try SchemaChange.byName(source, schema(), fields: ["Row": origins])
        }
    }

    /// Layouts accumulate over migrations; rows are written in each of them.
    @Test(arguments: [1, 2, 3, 4, 5, 6], [true, false])
    func layoutsOfManyMigrationsAreOne(_ seed: UInt64, _ checksums: Bool) throws {
        var model = Model(random: SplitMix64(seed: seed), fields: [])
        model.fields = (0..<5).map { _ in model.spec() }
        let engine = TestEngine(maximumPieceSize: 500, checksumsRecords: checksums)
        var opened = try Opened(engine, model.schema())
        var last: Int64 = 0
        for round in 0..<7 {
            if round > 0 { opened = try opened.migrated(model.migrate()) }
            #expect(try opened.all("Row") == model.rows)
            #expect(try opened.backend.verify() == [])
            try opened.store.write { changes in
                for _ in 0..<40 {
                    last += 1
                    model.rows[last] = model.row()
                    try changes.insert("Row", last, model.rows[last] ?? [:])
                }
            }
            try opened.store.write { changes in
                for id in model.rows.keys.sorted() {
                    switch model.random.below(6) {
                    case 0:
                        let field = model.fields[model.random.below(model.fields.count)]
                        let value = field.isOptional && model.random.below(3) == 0 ? .null : model.value(field.type)
                        model.rows[id]?[field.name] = value.isNull ? nil : value
                        try changes.update("Row", id, [field.name: value])
                    case 1:
                        model.rows[id] = nil
                        try changes.delete("Row", id)
                    default: break
                    }
                }
            }
            #expect(try opened.all("Row") == model.rows)
            try expectSameAnswers(opened, model)
            #expect(try opened.backend.verify() == [])
        }
    }

    private func expectSameAnswers(_ opened: Opened, _ model: Model) throws {
        var model = model
        let row = try opened.store.entity("Row")
        try opened.store.read { transaction in
            for field in model.fields {
                for _ in 0..<5 {
                    let value = model.value(field.type)
                    let wanted = model.rows.filter { $0.value[field.name] == value }.map(\.key).sorted()
                    var request = FetchRequest(
                        row, predicate: .compare(try opened.store.field("Row", field.name), .equal, value))
                    #expect(try transaction.ids(request) == wanted)
                    request.ignoresIndexes = true
                    #expect(try transaction.count(request) == wanted.count)
                }
            }
        }
    }
}
