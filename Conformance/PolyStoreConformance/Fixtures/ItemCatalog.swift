import PolyStoreBackend

/// A store with an index of every kind, for plans and for results with and without indexes.
enum ItemCatalog {
    /// Item(sku unique; title, price, weight, added indexed; note; shelf and slot together indexed; maker) → Maker.
    static let schema: SchemaDescription = {
        func attribute(_ name: String, _ type: AttributeType, isIndexed: Bool = false, isUnique: Bool = false) -> PropertyDescription {
            .attribute(AttributeDescription(name: name, type: type, isOptional: true, isUnique: isUnique, isIndexed: isIndexed))
        }
        let item: [PropertyDescription] = [
            attribute("sku", .string, isUnique: true), attribute("title", .string, isIndexed: true),
            attribute("price", .int64, isIndexed: true), attribute("weight", .double, isIndexed: true),
            attribute("added", .date, isIndexed: true), attribute("note", .string), attribute("shelf", .string),
            attribute("slot", .int64),
            .relationship(RelationshipDescription(name: "maker", destination: "Maker", isToMany: false, inverse: "items")),
        ]
        let maker: [PropertyDescription] = [
            attribute("name", .string), .relationship(RelationshipDescription(name: "items", destination: "Item", isToMany: true)),
        ]
        return SchemaDescription(
            name: "Catalog",
            entities: [
                EntityDescription(name: "Item", properties: item, indexes: [IndexDescription(fields: ["shelf", "slot"])]),
                EntityDescription(name: "Maker", properties: maker),
            ])
    }()

    /// Returns the values of item `number`, whose id is one greater.
    static func row(_ number: Int) -> [Value] {
        let title: Value = number % 11 == 10 ? .null : .text("t\(number % 40)-\(number)")
        let weight: Value = number % 7 == 6 ? .null : .real(Double(number % 50) / 4)
        let note: Value = number % 3 == 2 ? .null : .text("note \(number % 5)")
        return [
            .text("sku\(number)"), title, .integer(Int64(number % 60)), weight, .real(Double(number) * 3600), note,
            .text("shelf\(number % 8)"), .integer(Int64(number)), .integer(Int64(number % 20 + 1)),
        ]
    }

    static func open(_ run: ConformanceRun, items: Int) throws -> (TestStore, Entity) {
        let store = try run.open(schema)
        try store.insert("Maker", (0..<20).map { [.text("m\($0)")] })
        try store.insert("Item", (0..<items).map(row))
        return (store, try store.entity("Item"))
    }

    /// Returns conditions that an index supports, with descriptions.
    static func served(_ store: TestStore) throws -> [(String, QueryPredicate)] {
        let (sku, title) = (try store.field("Item", "sku"), try store.field("Item", "title"))
        let (price, weight) = (try store.field("Item", "price"), try store.field("Item", "weight"))
        let (added, note) = (try store.field("Item", "added"), try store.field("Item", "note"))
        let (shelf, slot) = (try store.field("Item", "shelf"), try store.field("Item", "slot"))
        let maker = try store.field("Item", "maker")
        let many: [Value] = (0..<600).map { .integer(Int64($0 * 10 + 7)) }
        return [
            ("equality of a unique text", .compare(sku, .equal, .text("sku7"))),
            ("equality of a text", .compare(title, .equal, .text("t5-5"))),
            ("equality of an integer", .compare(price, .equal, .integer(3))),
            ("equality of a real", .compare(weight, .equal, .real(2.25))),
            ("equality of a date", .compare(added, .equal, .real(7200))),
            ("equality of a to-one", .compare(maker, .equal, .integer(3))),
            ("equality and more", .and([.compare(price, .equal, .integer(3)), .text(note, .contains, "1")])),
            ("range of integers", .compare(price, .less, .integer(5))),
            ("range of integers and more", .and([.compare(price, .lessOrEqual, .integer(5)), .text(note, .contains, "1")])),
            ("range with two ends", .and([.compare(price, .greaterOrEqual, .integer(10)), .compare(price, .lessOrEqual, .integer(12))])),
            ("range of texts", .compare(title, .greater, .text("t9"))),
            ("range of reals", .compare(weight, .less, .real(1))),
            ("range of dates", .and([.compare(added, .greater, .real(3600)), .compare(added, .less, .real(36_000))])),
            ("prefix", .text(title, .beginsWith, "t3-")), ("prefix of a unique text", .text(sku, .beginsWith, "sku11")),
            ("in of integers", .oneOf(price, [.integer(1), .integer(30), .integer(999)])),
            ("in of texts", .oneOf(sku, [.text("sku1"), .text("sku2"), .text("none")])), ("in of many integers", .oneOf(price, many)),
            ("or of one field", .or([.compare(price, .equal, .integer(1)), .compare(price, .equal, .integer(8))])),
            ("or of two fields", .or([.compare(price, .equal, .integer(1)), .text(title, .beginsWith, "t7-")])),
            ("or of id and field", .or([.compare(.objectID, .equal, .integer(4)), .compare(sku, .equal, .text("sku9"))])),
            ("first of a compound", .compare(shelf, .equal, .text("shelf3"))),
            ("both of a compound", .and([.compare(shelf, .equal, .text("shelf3")), .compare(slot, .less, .integer(50))])),
            ("id", .compare(.objectID, .equal, .integer(5))), ("ids", .oneOf(.objectID, [.integer(1), .integer(9), .integer(100_000)])),
            ("range of ids", .and([.compare(.objectID, .greater, .integer(5)), .compare(.objectID, .lessOrEqual, .integer(9))])),
        ]
    }

    /// Returns conditions that need a full scan, or that a backend may leave as a residual predicate.
    static func unserved(_ store: TestStore) throws -> [QueryPredicate] {
        let (title, note) = (try store.field("Item", "title"), try store.field("Item", "note"))
        let (price, slot) = (try store.field("Item", "price"), try store.field("Item", "slot"))
        var deep = QueryPredicate.compare(price, .less, .integer(20))
        for _ in 0..<60 { deep = .not(.or([deep, .compare(note, .equal, .text("note 1"))])) }
        let many: [Value] = (0..<700).map { .text("t\($0 % 40)-\($0 * 2)") }
        return [
            .all, .none, .compare(note, .equal, .text("note 2")), .isNull(note), .not(.isNull(title)), .text(title, .contains, "7"),
            .text(title, .endsWith, "1"), .compare(slot, .less, price), .oneOf(title, many), deep,
            .and([.oneOf(title, many), .compare(price, .less, .integer(30))]), .or([.isNull(title), .compare(price, .equal, .integer(2))]),
            .not(.compare(price, .equal, .integer(2))), .compare(price, .equal, .null),
        ]
    }

    /// Returns sort orders with and without an index, with nulls and with ties.
    static func orders(_ store: TestStore) throws -> [[SortKey]] {
        let (price, note) = (try store.field("Item", "price"), try store.field("Item", "note"))
        let (shelf, slot) = (try store.field("Item", "shelf"), try store.field("Item", "slot"))
        let weight = try store.field("Item", "weight")
        return [
            [], [SortKey(price)], [SortKey(price, ascending: false)], [SortKey(weight, ascending: false, nulls: .first)],
            [SortKey(shelf), SortKey(slot)], [SortKey(note, nulls: .last), SortKey(price, ascending: false)],
            [SortKey(.objectID, ascending: false)],
        ]
    }

    /// Returns requests with every condition and every order, complete and in slices.
    static func requests(_ store: TestStore) throws -> [FetchRequest] {
        let item = try store.entity("Item")
        var requests: [FetchRequest] = []
        for (number, predicate) in try (served(store).map(\.1) + unserved(store)).enumerated() {
            for (position, order) in try orders(store).enumerated() {
                requests.append(FetchRequest(item, predicate: predicate, sortKeys: order))
                // Only some slices for each combination.
                let slices: [(Int?, Int)] = [(3, 0), (5, 2), (nil, 4), (1, 1000)]
                let (limit, offset) = slices[(number + position) % slices.count]
                requests.append(FetchRequest(item, predicate: predicate, sortKeys: order, limit: limit, offset: offset))
            }
        }
        return requests
    }

    /// Returns a third of the requests: every condition with several orders and slices, and every order and slice with many conditions. For what depends on the
    /// parts of a request and not on their combination.
    static func someRequests(_ store: TestStore) throws -> [FetchRequest] {
        let all = try requests(store)
        return stride(from: 0, to: all.count, by: 3).map { all[$0] }
    }
}
