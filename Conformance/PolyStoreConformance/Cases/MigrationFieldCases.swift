import PolyStoreBackend

/// The fields of carried entities in a migration.
let migrationFieldCases: [ConformanceCase] = scenarios.map { scenario in
    ConformanceCase("migration.fields.\(scenario.id)", scenario.statement, requires: [.migration]) { run in
        let store = try run.open(SchemaDescription([EntityDescription("Item", scenario.before)]))
        try store.insert("Item", scenario.rows)
        try store.reserve("Item", scenario.rows.count)
        let target = try ResolvedSchema(
            SchemaDescription([EntityDescription(scenario.entity, scenario.after, indexes: scenario.indexes)]))
        let change = try SchemaChange(
            identifier: "test", source: store.schema, target: target, entities: [.carried(entity: 0, fields: scenario.fields)], links: [])
        let expected = scenario.rows.map(scenario.expected)
        let item = target.entities[0]
        let migrated = try store.migrate(change) { reader, when in
            try run.expect(try reader.ids(FetchRequest(item)), equals: expected.indices.map { Int64($0 + 1) }, when)
            for (index, row) in expected.enumerated() {
                try run.expect(try reader.row(item, Int64(index + 1)), equals: row, "\(when), record \(index + 1)")
            }
            try checkQueries(run, reader, item, expected, when)
        }
        guard let migrated else { return }
        // Fields of the target schema accept new values.
        try migrated.change { changes in
            try changes.insert(item, rowID: 100, expected[0])
            changes.delete(item, rowID: 1)
        }
        try run.expect(try migrated.row(item.name, 100), equals: expected[0], "a new record")
        let writer = try migrated.backend.beginWrite()
        defer { writer.rollback() }
        try run.expect(try writer.reserveIDs(try migrated.entity(item.name), count: 1), equals: Int64(expected.count + 1), "the next id")
    }
}

/// Compares conditions and sort orders on every field with the rows.
private func checkQueries(_ run: ConformanceRun, _ reader: any ReadTransaction, _ item: Entity, _ rows: [[Value]], _ when: String) throws {
    for field in item.fields {
        let reference = FieldReference(field)
        let isUnsigned = field.type == .uint64
        for value in Set(rows.map { $0[field.index] }) {
            let equal = rows.indices.filter { rows[$0][field.index] == value }.map { Int64($0 + 1) }
            let predicate: QueryPredicate = value.isNull ? .isNull(reference) : .compare(reference, .equal, value)
            try run.expect(try reader.ids(FetchRequest(item, predicate: predicate)), equals: equal, "\(when), \(field.name) = \(value)")
            if value.isNull { continue }
            let less = rows.indices.filter {
                !rows[$0][field.index].isNull && rows[$0][field.index].order(to: value, unsigned: isUnsigned) < 0
            }
            try run.expect(
                try reader.ids(FetchRequest(item, predicate: .compare(reference, .less, value))), equals: less.map { Int64($0 + 1) },
                "\(when), \(field.name) < \(value)")
        }
        let sorted = rows.indices.sorted { left, right in
            (rows[left][field.index].order(to: rows[right][field.index], unsigned: isUnsigned), left) < (0, right)
        }
        try run.expect(
            try reader.ids(FetchRequest(item, sortKeys: [SortKey(reference)])), equals: sorted.map { Int64($0 + 1) },
            "\(when), by \(field.name)")
    }
}

/// A change of the fields of an entity.
private struct Scenario: Sendable {
    let id: String
    let statement: String
    var entity = "Item"
    var before = standard
    var rows = standardRows
    let after: [PropertyDescription]
    var indexes: [IndexDescription] = []
    let fields: [SchemaChange.FieldSource]
    let expected: @Sendable ([Value]) -> [Value]
}

private func kept(_ field: Int) -> SchemaChange.FieldSource { .field(field, replacingNullWith: .null) }

private let standard: [PropertyDescription] = [
    .attribute("a", .string, isOptional: true, isIndexed: true), .attribute("b", .int16, isIndexed: true),
    .attribute("c", .double, isOptional: true),
]
private let standardRows: [[Value]] = [
    [.text("x'\"\0y"), .integer(-7), .real(0.1)], [.null, .integer(0), .null], [.text(""), .integer(32767), .real(.nan)],
    [.text("é"), .integer(0), .real(-.infinity)],
]
private let a = standard[0]
private let b = standard[1]
private let c = standard[2]

/// Values of each type that replace null or are constant in every record.
private let samples: [(type: AttributeType, values: [Value])] = [
    (.bool, [.integer(1)]), (.int8, [.integer(-128)]), (.uint32, [.integer(4_294_967_295)]), (.int64, [.integer(.min), .integer(.max)]),
    (.uint64, [.integer(-1), .integer(0)]), (.float, [.real(0.5), .real(-.infinity)]),
    (.double, [.real(0.1), .real(.nan), .real(0), .real(-3), .real(1e300)]), (.date, [.real(-63_114_076_800), .real(0.25)]),
    (.string, [.text(""), .text("it's\0\"é\""), .text(String(repeating: "'é", count: 3000))]), (.url, [.text("file:///a b")]),
    (.data, [.blob([]), .blob([0, 39, 255]), .blob(Array(repeating: 7, count: 6000))]), (.uuid, [.blob(Array(0..<16))]),
]
/// A field for each of `samples`.
private let sampleFields = samples.flatMap { sample in sample.values.map { (sample.type, $0) } }

private let scenarios: [Scenario] = [
    Scenario(
        id: "same", statement: "Unchanged fields keep their values.", after: standard, fields: [kept(0), kept(1), kept(2)],
        expected: { $0 }),
    Scenario(
        id: "entity-renamed", statement: "The records of a renamed entity keep their ids and values.", entity: "Thing", after: standard,
        fields: [kept(0), kept(1), kept(2)], expected: { $0 }),
    Scenario(
        id: "case-changed", statement: "Names can change only in case.", entity: "ITEM",
        after: [.attribute("A", .string, isOptional: true, isIndexed: true), .attribute("B", .int16), c],
        fields: [kept(0), kept(1), kept(2)], expected: { $0 }),
    Scenario(
        id: "renamed", statement: "Renamed fields keep their values, whatever characters the names have.",
        after: [
            .attribute("title", .string, isOptional: true, isIndexed: true), .attribute("na\"me; '", .int16, isIndexed: true),
            .attribute("order", .double, isOptional: true),
        ], fields: [kept(0), kept(1), kept(2)], expected: { $0 }),
    Scenario(
        id: "exchanged", statement: "Fields can exchange their names.",
        after: [
            .attribute("c", .string, isOptional: true, isIndexed: true), .attribute("b", .int16),
            .attribute("a", .double, isOptional: true, isIndexed: true),
        ], fields: [kept(0), kept(1), kept(2)], expected: { $0 }),
    Scenario(
        id: "name-reused", statement: "A new field can have the former name of another one.",
        after: [.attribute("a2", .string, isOptional: true), b, c, .attribute("a", .int8)],
        fields: [kept(0), kept(1), kept(2), .constant(.integer(-3))], expected: { $0 + [.integer(-3)] }),
    Scenario(
        id: "reordered", statement: "Fields can be declared in another order.", after: [c, a, b], fields: [kept(2), kept(0), kept(1)],
        expected: { [$0[2], $0[0], $0[1]] }),
    Scenario(
        id: "removed", statement: "Removed fields are dropped, and the others keep their values.", after: [c, a],
        fields: [kept(2), kept(0)], expected: { [$0[2], $0[0]] }),
    Scenario(
        id: "all-removed", statement: "An entity without fields keeps its records.", after: [], fields: [], expected: { _ in [] }),
    Scenario(
        id: "copied", statement: "A source field can be the origin of several fields.",
        after: [a, b, c, .attribute("b2", .int64, isIndexed: true), .attribute("a2", .string, isOptional: true)],
        fields: [kept(0), kept(1), kept(2), kept(1), kept(0)], expected: { $0 + [$0[1], $0[0]] }),
    Scenario(
        id: "added-null", statement: "New optional fields can be null in every record.",
        after: AttributeType.allCases.map { .attribute("new_\($0)", $0, isOptional: true, isIndexed: true) } + [a],
        fields: AttributeType.allCases.map { _ in .constant(.null) } + [kept(0)],
        expected: { row in AttributeType.allCases.map { _ in .null } + [row[0]] }),
    Scenario(
        id: "added-constant", statement: "New fields have the same value in every record, for each type.",
        after: [a] + sampleFields.enumerated().map { .attribute("new\($0.offset)", $0.element.0, isIndexed: true) } + [b, c],
        fields: [kept(0)] + sampleFields.map { .constant($0.1) } + [kept(1), kept(2)],
        expected: { [$0[0]] + sampleFields.map(\.1) + [$0[1], $0[2]] }),
    Scenario(
        id: "added-one-constant", statement: "A new last field has the same value in every record.",
        after: [a, b, c, .attribute("d", .string, isIndexed: true), .attribute("e", .double)],
        fields: [kept(0), kept(1), kept(2), .constant(.text("it's")), .constant(.real(12))],
        expected: { $0 + [.text("it's"), .real(12)] }),
    Scenario(
        id: "added-optional-constant", statement: "New optional fields have the same value in every record, for each type.",
        after: [a]
            + sampleFields.enumerated().map { .attribute("new\($0.offset)", $0.element.0, isOptional: true, isIndexed: $0.offset % 2 == 0) }
            + [b, c],
        fields: [kept(0)] + sampleFields.map { .constant($0.1) } + [kept(1), kept(2)],
        expected: { [$0[0]] + sampleFields.map(\.1) + [$0[1], $0[2]] }),
    Scenario(
        id: "null-replaced", statement: "A value replaces null, and other values stay.",
        after: [.attribute("a", .string, isIndexed: true), b, .attribute("c", .double, isIndexed: true)],
        fields: [.field(0, replacingNullWith: .text("'none'\0")), kept(1), .field(2, replacingNullWith: .real(0.3))],
        expected: { [$0[0].isNull ? .text("'none'\0") : $0[0], $0[1], $0[2].isNull ? .real(0.3) : $0[2]] }),
    Scenario(
        id: "null-replaced-by-type", statement: "A value of each type replaces null.",
        before: sampleFields.enumerated().map { .attribute("old\($0.offset)", $0.element.0, isOptional: true, isIndexed: true) },
        rows: [sampleFields.map { _ in .null }, sampleFields.map(\.1), sampleFields.map { _ in .null }],
        after: sampleFields.enumerated().map { .attribute("old\($0.offset)", $0.element.0, isIndexed: $0.offset % 2 == 0) },
        fields: sampleFields.enumerated().map { .field($0.offset, replacingNullWith: $0.element.1) },
        expected: { _ in sampleFields.map(\.1) }),
    Scenario(
        id: "null-replaced-in-optional", statement: "A value replaces null in a field that remains optional.", after: [a, b, c],
        fields: [.field(0, replacingNullWith: .text("none")), kept(1), .field(2, replacingNullWith: .real(.nan))],
        expected: { [$0[0].isNull ? .text("none") : $0[0], $0[1], $0[2].isNull ? .real(.nan) : $0[2]] }),
    Scenario(
        id: "null-kept", statement: "Null stays null in a field that remains optional.", after: [c, a],
        fields: [kept(2), .field(0, replacingNullWith: .null)], expected: { [$0[2], $0[0]] }),
    Scenario(
        id: "made-optional", statement: "A field that becomes optional keeps its values and accepts null.",
        after: [a, .attribute("b", .int16, isOptional: true, isIndexed: true), c], fields: [kept(0), kept(1), kept(2)],
        expected: { $0 }),
    Scenario(
        id: "widened", statement: "A field with a wider type keeps its values.",
        before: [
            .attribute("i8", .int8), .attribute("u8", .uint8), .attribute("u32", .uint32), .attribute("f", .float),
            .attribute("s", .url), .attribute("j", .json, isOptional: true), .attribute("i32", .int32, isIndexed: true),
        ],
        rows: [
            [.integer(-128), .integer(255), .integer(4_294_967_295), .real(0.5), .text("x:y"), .null, .integer(-2_147_483_648)],
            [.integer(127), .integer(0), .integer(0), .real(.nan), .text(""), .text("{}"), .integer(2_147_483_647)],
            [.integer(0), .integer(1), .integer(2_147_483_648), .real(-.infinity), .text("é"), .text("[1]"), .integer(0)],
        ],
        after: [
            .attribute("i8", .int16), .attribute("u8", .int32), .attribute("u32", .int64, isIndexed: true),
            .attribute("f", .double, isIndexed: true), .attribute("s", .string), .attribute("j", .string, isOptional: true),
            .attribute("i32", .int64, isIndexed: true),
        ], fields: (0..<7).map { kept($0) }, expected: { $0 }),
    Scenario(
        id: "indexes-replaced", statement: "New indexes are usable, and removed ones are not required.",
        after: [
            .attribute("a", .string, isOptional: true, isUnique: true), .attribute("b", .int16),
            .attribute("c", .double, isOptional: true, isIndexed: true),
        ],
        indexes: [IndexDescription(fields: ["b", "a"]), IndexDescription(fields: ["b", "c"], isUnique: true)],
        fields: [kept(0), kept(1), kept(2)], expected: { $0 }),
]
