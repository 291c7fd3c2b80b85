import EngineTestSupport
import PolyStoreBackend

/// One query with its expected result. The queries cover the access paths of an engine: by id, full scan, index scan and links.
struct Query {
    let name: String
    let check: (Store, any ReadTransaction, Truth) throws -> Void

    static func all(_ truth: Truth) -> [Query] {
        [
            Query(name: "head") { store, transaction, truth in
                let head = try Checker.head(store, transaction)
                try Checker.expect(head == truth.number, "head: \(head) instead of \(truth.number)")
            },
            Query(name: "count") { store, transaction, truth in
                let count = try transaction.count(FetchRequest(try store.entity("Item")))
                try Checker.expect(count == truth.ids.count, "count: \(count) instead of \(truth.ids.count)")
                let tags = try transaction.count(FetchRequest(try store.entity("Tag")))
                try Checker.expect(tags == (truth.number == 0 ? 0 : Truth.tags.count), "count: \(tags) tags")
            },
            Query(name: "all") { store, transaction, truth in
                let entity = try store.entity("Item")
                let cursor = try transaction.fetch(FetchRequest(entity))
                defer { cursor.close() }
                var ids: [Int64] = []
                while try cursor.next() {
                    ids.append(cursor.rowID)
                    try compare("all", cursor.rowID, values(entity, cursor.record), truth)
                }
                try compare("all", ids, truth.ids)
            },
            Query(name: "ids") { store, transaction, truth in
                try compare("ids", try transaction.ids(FetchRequest(try store.entity("Item"), onlyIDs: true)), truth.ids)
            },
            Query(name: "order") { store, transaction, truth in
                let size = try store.field("Item", "size")
                let request = FetchRequest(try store.entity("Item"), sortKeys: [SortKey(size)])
                try compare("order", try transaction.ids(request), sorted(truth.ids, truth))
            },
            Query(name: "first") { store, transaction, truth in
                let size = try store.field("Item", "size")
                let request = FetchRequest(try store.entity("Item"), sortKeys: [SortKey(size, ascending: false)], limit: 10)
                let ids = truth.ids.sorted { (-(truth.items[$0]?.size ?? 0), $0) < (-(truth.items[$1]?.size ?? 0), $1) }
                try compare("first", try transaction.ids(request), Array(ids.prefix(10)))
            },
        ] + ranges + [
            Query(name: "title") { store, transaction, truth in
                let title = try store.field("Item", "title")
                let last = truth.ids.last ?? 0
                // Existing, deleted and unused ids.
                for id in stride(from: Int64(1), through: last + 20, by: max(1, Int(last) / 40)) {
                    let found = try transaction.ids(
                        FetchRequest(try store.entity("Item"), predicate: .compare(title, .equal, .text(Truth.title(id)))))
                    try compare("title \(id)", found, truth.items[id] == nil ? [] : [id])
                }
            },
            Query(name: "record") { store, transaction, truth in
                let entity = try store.entity("Item")
                for id in 1...((truth.ids.last ?? 0) + 5) {
                    let values = try transaction.values(entity, id)
                    if truth.items[id] == nil { try Checker.expect(values == nil, "record: \(id) was deleted, and is there") }
                    if truth.items[id] != nil {
                        guard let values else { throw Checker.Wrong("record: \(id) is missing") }
                        try compare("record", id, values, truth)
                    }
                }
            },
            Query(name: "related") { store, transaction, truth in
                let tags = try transaction.related(try store.relationship("Item", "tags"), of: truth.ids)
                for id in truth.ids { try compare("related \(id)", tags[id], [Truth.tag(id)]) }
                let items = try transaction.related(try store.relationship("Tag", "items"), of: Array(Truth.tags))
                for tag in Truth.tags { try compare("related tag \(tag)", items[tag], truth.ids.filter { Truth.tag($0) == tag }) }
            },
            Query(name: "aggregate") { store, transaction, truth in
                let size = try store.field("Item", "size")
                let rows = try transaction.aggregate(
                    AggregateRequest(try store.entity("Item"), aggregates: [.count, .sum(size), .maximum(size)]))
                let sizes = truth.ids.map { truth.items[$0]?.size ?? 0 }
                let right: [Value] = [
                    .integer(Int64(sizes.count)), .integer(sizes.reduce(0, +)), sizes.max().map { .integer($0) } ?? .null,
                ]
                try Checker.expect(rows.map(\.values) == [right], "aggregate: \(rows.map(\.values)) instead of \(right)")
            },
        ] + Searches.all
    }

    /// Scans of part of an index.
    private static var ranges: [Query] {
        [(0, 100), (100, 500), (450, 460), (900, 999)].flatMap { bounds in
            [false, true].map { ignoresIndexes in
                let name = "range \(bounds.0)-\(bounds.1)\(ignoresIndexes ? " without indexes" : "")"
                return Query(name: name) { store, transaction, truth in
                    let size = try store.field("Item", "size")
                    var request = FetchRequest(
                        try store.entity("Item"),
                        predicate: .and([
                            .compare(size, .greaterOrEqual, .integer(Int64(bounds.0))),
                            .compare(size, .lessOrEqual, .integer(Int64(bounds.1))),
                        ]), sortKeys: [SortKey(size)])
                    request.ignoresIndexes = ignoresIndexes
                    let right = truth.ids.filter { id in truth.items[id].map { $0.size >= bounds.0 && $0.size <= bounds.1 } ?? false }
                    try compare(name, try transaction.ids(request), sorted(right, truth))
                    let count = try transaction.count(request)
                    try Checker.expect(count == right.count, "\(name): count \(count) instead of \(right.count)")
                }
            }
        }
    }

    private static func sorted(_ ids: [Int64], _ truth: Truth) -> [Int64] {
        ids.sorted { (truth.items[$0]?.size ?? 0, $0) < (truth.items[$1]?.size ?? 0, $1) }
    }

    private static func values(_ entity: Entity, _ record: RecordView) -> [String: Value] {
        var values: [String: Value] = [:]
        for field in entity.fields where !record.isNull(field.index) { values[field.name] = record.value(field) }
        return values
    }

    private static func compare(_ name: String, _ id: Int64, _ found: [String: Value], _ truth: Truth) throws {
        guard let item = truth.items[id] else { throw Checker.Wrong("\(name): item \(id) should not be there") }
        let right = Truth.values(id, item)
        for (field, value) in right where found[field] != value {
            throw Checker.Wrong("\(name): \(field) of item \(id) is wrong (revision \(found["revision"] ?? .null), not \(item.revision))")
        }
        try Checker.expect(found.count == right.count, "\(name): item \(id) has \(found.keys.sorted())")
    }

    private static func compare(_ name: String, _ found: [Int64], _ right: [Int64]) throws {
        guard found != right else { return }
        let missing = Set(right).subtracting(found).sorted().prefix(5)
        let surplus = Set(found).subtracting(right).sorted().prefix(5)
        throw Checker.Wrong("\(name): \(found.count) ids instead of \(right.count), missing \(missing), surplus \(surplus)")
    }
}
