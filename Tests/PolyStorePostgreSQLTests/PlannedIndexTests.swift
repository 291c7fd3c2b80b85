import Foundation
import PolyStoreBackend
import PolyStoreConformance
import PostgreSQLServer
import PostgreSQLTarget
import Testing

@testable import PolyStorePostgreSQL

/// The cases of planned indexes, on servers whose planner avoids other access paths, whatever they cost.
@Suite(.withServer) struct PlannedIndexConformance {
    /// How a server is kept from the access paths that it would otherwise choose for a small table without statistics.
    private enum Planner: Sendable {
        /// No table is scanned if an index can serve a request.
        case withoutScans
        /// Nor is the primary key read instead of another index.
        case withBitmapsOnly
        /// Nor are rows sorted that an index can deliver in order.
        case withoutSorts
    }

    private static let withoutScans = target(["enable_seqscan=off"])
    private static let withBitmapsOnly = target(["enable_seqscan=off", "enable_indexscan=off", "enable_indexonlyscan=off"])
    private static let withoutSorts = target(["enable_seqscan=off", "enable_sort=off", "enable_bitmapscan=off"])

    private static func target(_ settings: [String]) -> Result<ConformanceTarget, any Error> {
        Result { PostgreSQLTarget.on(try PostgreSQLServer(settings), claiming: [.plannedIndexes]) }
    }

    /// The cases that need another planner than that without scans.
    private static let planners: [String: Planner] = [
        "capability.planned-indexes.both-ways": .withBitmapsOnly, "plan.index.in": .withBitmapsOnly,
        "plan.index.ranges-of-every-type": .withBitmapsOnly, "plan.index.condition-order-and-limit": .withoutSorts,
    ]

    /// The cases that PostgreSQL cannot pass with any setting, with the reasons.
    private static let exceptions: [String: Comment] = [
        "plan.cost.list-and-order":
            "PostgreSQL does not merge the scans of an index for a list by their order. It reads the rows of the list and sorts them.",
        "plan.cost.rare-range-and-common-equality":
            "Which of two indexes is the more selective one is known from statistics only, which the server collects later; see PlannedIndexTests.",
    ]

    static let cases = ConformanceCase.all.filter {
        $0.requires.contains(.plannedIndexes) || $0.id == "capability.planned-indexes.both-ways"
    }

    @Test(arguments: cases)
    func conforms(_ c: ConformanceCase) async throws {
        let target =
            switch Self.planners[c.id] ?? .withoutScans {
            case .withoutScans: try Self.withoutScans.get()
            case .withBitmapsOnly: try Self.withBitmapsOnly.get()
            case .withoutSorts: try Self.withoutSorts.get()
            }
        guard let reason = Self.exceptions[c.id] else {
            #expect(try await c.run(target))
            return
        }
        await withKnownIssue(reason) { _ = try await c.run(target) }
    }
}

/// The indexes that PostgreSQL chooses with statistics and without settings, for a table of 20,000 rows.
@Suite(.withServer) struct PlannedIndexTests {
    private static let count = 20_000 as Int64

    private static let schema: SchemaDescription = {
        func attribute(
            _ name: String, _ type: AttributeType, isOptional: Bool = true, isUnique: Bool = false, isIndexed: Bool = true
        ) -> PropertyDescription {
            .attribute(AttributeDescription(name: name, type: type, isOptional: isOptional, isUnique: isUnique, isIndexed: isIndexed))
        }
        let item: [PropertyDescription] = [
            attribute("sku", .string, isUnique: true), attribute("code", .int64, isOptional: false, isUnique: true),
            attribute("serial", .date, isUnique: true), attribute("title", .string), attribute("price", .int64),
            attribute("stock", .uint64), attribute("weight", .double), attribute("added", .date), attribute("token", .uuid),
            attribute("hash", .data), attribute("cost", .decimal), attribute("isSold", .bool),
            attribute("shelf", .string, isIndexed: false),
            attribute("slot", .int64, isIndexed: false), attribute("info", .json, isIndexed: false),
            .relationship(RelationshipDescription(name: "maker", destination: "Maker", isToMany: false, inverse: "items")),
            .relationship(RelationshipDescription(name: "tags", destination: "Tag", isToMany: true, inverse: "items")),
        ]
        return SchemaDescription(
            name: "Catalog",
            entities: [
                EntityDescription(
                    name: "Item", properties: item,
                    indexes: [
                        IndexDescription(fields: ["shelf", "slot"]), IndexDescription(parts: [.json("info", ["city"], as: .string)]),
                        IndexDescription(parts: [.json("info", ["rank"], as: .int64)]),
                    ]),
                EntityDescription(
                    name: "Maker",
                    properties: [
                        attribute("name", .string),
                        .relationship(RelationshipDescription(name: "items", destination: "Item", isToMany: true)),
                    ]),
                EntityDescription(
                    name: "Tag",
                    properties: [
                        attribute("word", .string),
                        .relationship(RelationshipDescription(name: "items", destination: "Item", isToMany: true)),
                    ]),
            ])
    }()

    private static func bytes(_ row: Int64, _ count: Int = 16) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: row &* 2_654_435_761 >> Int64($0 % 4 * 8)) }
    }

    /// The values of an object. Some objects have no SKU, and some no title.
    private static func row(_ id: Int64) -> [Value] {
        let mixed = id * 7919 % count
        return [
            id % 1000 == 3 ? .null : .text("sku\(mixed)"), .integer(mixed), .real(Double(mixed) / 4),
            id % 20 == 4 ? .null : .text("t\(mixed)"),
            .integer(mixed / 10), .integer(mixed << 40), id % 100 == 1 ? .real(.nan) : .real(Double(mixed) / 8), .real(Double(id) * 60),
            .blob(bytes(id)), .blob(bytes(id, 24)), .blob(Decimal(mixed).orderedBytes), .integer(id % 400 == 7 ? 1 : 0),
            .text("shelf\(mixed % 200)"), .integer(id), .text("{\"city\":\"c\(mixed / 4)\",\"rank\":\(mixed)}"), .integer(id % 1000 + 1),
        ]
    }

    private static func filled() throws -> Store {
        let options = TestServer.options()
        let store = try Store(options: options, schema: try ResolvedSchema(schema))
        let changes = ChangeSet(store.schema)
        let (item, maker, tag) = (try store.entity("Item"), try store.entity("Maker"), try store.entity("Tag"))
        for id in 1...1000 as ClosedRange<Int64> {
            try changes.insert(maker, rowID: id) { $0.setText(0, "m\(id)") }
            try changes.insert(tag, rowID: id) { $0.setText(0, "w\(id)") }
        }
        for id in 1...count {
            let values = row(id)
            try changes.insert(item, rowID: id) { for (field, value) in values.enumerated() { try $0.set(item.fields[field], value) } }
            changes.link(ChangeSet.LinkChange(table: 0, source: id, target: id * 31 % 1000 + 1, isAddition: true))
        }
        try store.write(changes)
        // Collects statistics of the tables of this store alone: those of others can be locked.
        try store.backend.compact()
        return store
    }

    /// A request, the indexes among which the plan may choose, and the maximum number of rows that are examined.
    private struct Expectation {
        let indexes: Set<String>
        var predicate = QueryPredicate.all
        var order: [SortKey] = []
        var limit: Int?
        var most = 400
    }

    @Test func statisticsAndDefaultSettingsSufficeForIndexes() throws {
        let store = try Self.filled()
        let item = try store.entity("Item")
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        for expected in try Self.conditions(store) + Self.orders(store) + Self.relatedConditions(store) {
            let request = FetchRequest(item, predicate: expected.predicate, sortKeys: expected.order, limit: expected.limit)
            let plan = try reader.explain(request)
            #expect(!plan.accesses.isEmpty && plan.accesses.allSatisfy { expected.indexes.contains($0.index ?? "\($0.path)") }, "\(plan)")
            #expect(plan.rowsExamined ?? .max <= expected.most, "\(plan)")
            #expect(plan.residual.isEmpty, "\(plan)")
            var unserved = request
            unserved.ignoresIndexes = true
            #expect(try reader.ids(request) == reader.ids(unserved), "\(plan)")
        }
    }

    private static func json(_ store: Store, _ key: String, _ type: AttributeType) throws -> QueryExpression {
        try #require(.json(JSONField([key], .value(type)), of: .field(store.field("Item", "info"))))
    }

    private static func conditions(_ store: Store) throws -> [Expectation] {
        func field(_ name: String) throws -> FieldReference { try store.field("Item", name) }
        let values: [(name: String, low: Value, high: Value)] = [
            ("sku", .text("sku1990"), .text("sku1995")), ("code", .integer(100), .integer(120)), ("serial", .real(100), .real(120)),
            ("title", .text("t1990"), .text("t1995")), ("price", .integer(7), .integer(9)),
            ("stock", .integer(1 << 40), .integer(20 << 40)),
            ("weight", .real(100), .real(102)), ("added", .real(600), .real(1200)),
            ("token", .blob([UInt8](repeating: 0, count: 16)), .blob([1] + [UInt8](repeating: 0, count: 15))),
            ("hash", .blob([1]), .blob([2])), ("cost", .blob(Decimal(50).orderedBytes), .blob(Decimal(70).orderedBytes)),
        ]
        var found: [Expectation] = []
        for (name, low, high) in values {
            let field = try field(name)
            let own: Set = ["Item_\(name)"]
            found.append(Expectation(indexes: own, predicate: .compare(field, .equal, low)))
            found.append(
                Expectation(indexes: own, predicate: .and([.compare(field, .greaterOrEqual, low), .compare(field, .less, high)])))
            found.append(Expectation(indexes: own, predicate: .oneOf(field, [low, high])))
        }
        let (serial, weight, price) = (try field("serial"), try field("weight"), try field("price"))
        let (city, rank) = (try json(store, "city", .string), try json(store, "rank", .int64))
        return found + [
            // NaN precedes every number.
            Expectation(indexes: ["Item_weight"], predicate: .compare(weight, .less, .real(2))),
            Expectation(indexes: ["Item_serial"], predicate: .compare(serial, .less, .real(2))),
            Expectation(indexes: ["Item_serial"], predicate: .compare(serial, .equal, .real(.nan))),
            Expectation(indexes: ["Item_serial"], predicate: .isNull(serial)),
            Expectation(indexes: ["Item_isSold"], predicate: .compare(try field("isSold"), .equal, .integer(1))),
            Expectation(indexes: ["Item_title"], predicate: .text(try field("title"), .beginsWith, "t77")),
            Expectation(indexes: ["Item_sku"], predicate: .text(try field("sku"), .beginsWith, "sku77")),
            Expectation(
                indexes: ["Item_price", "Item_title"],
                predicate: .or([.compare(price, .equal, .integer(1)), .text(try field("title"), .beginsWith, "t77")])),
            Expectation(indexes: ["Item_shelf_slot"], predicate: .compare(try field("shelf"), .equal, .text("shelf3"))),
            Expectation(
                indexes: ["Item_shelf_slot"],
                predicate: .and([.compare(try field("shelf"), .equal, .text("shelf3")), .compare(try field("slot"), .less, .integer(5000))])
            ),
            // The more selective one of two.
            Expectation(
                indexes: ["Item_price"],
                predicate: .and([.compare(try field("isSold"), .equal, .integer(0)), .compare(price, .less, .integer(2))])),
            Expectation(indexes: ["Item_info.city"], predicate: .compare(city, .equal, .constant(.text("c77"), .string))),
            Expectation(indexes: ["Item_info.city"], predicate: .text(city, .beginsWith, .constant(.text("c77"), .string))),
            Expectation(indexes: ["Item_info.rank"], predicate: .compare(rank, .less, .constant(.integer(20), .int64))),
            Expectation(indexes: ["Item_maker"], predicate: .compare(try field("maker"), .equal, .integer(7))),
            Expectation(indexes: ["primaryKey"], predicate: .oneOf(.objectID, [.integer(5), .integer(19_000)])),
        ]
    }

    private static func orders(_ store: Store) throws -> [Expectation] {
        func key(_ name: String, _ isAscending: Bool) throws -> SortKey { SortKey(try store.field("Item", name), ascending: isAscending) }
        var found: [Expectation] = []
        for isAscending in [true, false] {
            for name in ["sku", "code", "title", "price", "stock", "weight", "added", "token", "hash", "cost"] {
                found.append(Expectation(indexes: ["Item_\(name)"], order: [try key(name, isAscending)], limit: 10, most: 1400))
            }
            for name in ["city", "rank"] {
                let value = try json(store, name, name == "rank" ? .int64 : .string)
                found.append(
                    Expectation(indexes: ["Item_info.\(name)"], order: [SortKey(value, ascending: isAscending)], limit: 10))
            }
            found += [
                Expectation(
                    indexes: ["Item_shelf_slot"], predicate: .compare(try store.field("Item", "shelf"), .equal, .text("shelf3")),
                    order: [try key("slot", isAscending)], limit: 5),
                Expectation(
                    indexes: ["Item_sku"], predicate: .compare(try store.field("Item", "sku"), .greater, .text("sku5")),
                    order: [try key("sku", isAscending)], limit: 5),
            ]
        }
        return found
    }

    private static func relatedConditions(_ store: Store) throws -> [Expectation] {
        let relationships = try store.entity("Item").relationships
        func reference(_ name: String) throws -> RelationshipReference {
            RelationshipReference(try #require(relationships.first { $0.name == name }), in: store.schema)
        }
        let name = QueryPredicate.compare(try store.field("Maker", "name"), .equal, .text("m77"))
        let word = QueryPredicate.compare(try store.field("Tag", "word"), .equal, .text("w77"))
        return [
            Expectation(indexes: ["Item_maker"], predicate: .related(try reference("maker"), .one, name)),
            Expectation(indexes: ["primaryKey"], predicate: .related(try reference("tags"), .any, word)),
        ]
    }

    @Test func slicesOrderedByUniqueAttributesWithNulls() throws {
        let store = try Store()
        try store.write(store.people((1...90 as ClosedRange<Int64>).map { ($0, "n\($0 % 4)", $0 % 3 == 0 ? nil : "m\($0 * 37 % 100)") }))
        let (person, name, email) = (try store.entity("Person"), try store.field("Person", "name"), try store.field("Person", "email"))
        let conditions: [QueryPredicate] = [
            .all, .compare(name, .greater, .text("n1")), .compare(email, .notEqual, .text("m5")), .not(.isNull(email)), .isNull(email),
            .or([.isNull(email), .compare(name, .equal, .text("n2"))]), .text(name, .matches, "n[12]"), .compare(email, .less, name),
        ]
        let slices: [(Int?, Int)] = [(10, 25), (100, 3), (0, 2), (.max, 1), (nil, 40)]
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        for condition in conditions {
            for (isAscending, nulls) in [true, false].flatMap({ a in [.smallest, .first, .last].map { (a, $0 as SortKey.NullPlacement) } })
            {
                let key = SortKey(email, ascending: isAscending, nulls: nulls)
                for order in [[key], [key, SortKey(name, ascending: false)], [SortKey(name), key]] {
                    for (limit, offset) in slices {
                        var request = FetchRequest(person, predicate: condition, sortKeys: order, limit: limit, offset: offset)
                        let expected = try Unaided(reader).ids(request)
                        #expect(try reader.ids(request) == expected, "\(request)")
                        request.onlyIDs = true
                        #expect(try reader.ids(request) == expected, "\(request)")
                        if limit == 10 { #expect(try reader.explain(request).rowsReturned == expected.count, "\(request)") }
                    }
                }
            }
        }
    }
}
