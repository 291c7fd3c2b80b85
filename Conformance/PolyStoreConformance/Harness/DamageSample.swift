import PolyStoreBackend
import PolyStoreSearch
import SeededRandom

/// A store with records, indexes, a full-text index and links, and every way to read it.
struct DamageSample: Sendable {
    let rows: Int

    static let schema = SchemaDescription(
        name: "Damage",
        entities: [
            EntityDescription(
                name: "Item",
                properties: [
                    .attribute(AttributeDescription(name: "number", type: .int64, isIndexed: true)),
                    .attribute(AttributeDescription(name: "name", type: .string, isUnique: true)),
                    .attribute(AttributeDescription(name: "payload", type: .data)),
                    .relationship(RelationshipDescription(name: "others", destination: "Item", isToMany: true, inverse: "others")),
                ], searchIndexes: [SearchIndexDescription(fields: ["name"])])
        ])

    /// Returns incompressible bytes that occur only once.
    func payload(_ row: Int) -> [UInt8] {
        var random = SplitMix64(seed: UInt64(row) &* 7919)
        return (0..<15).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
    }

    private func values(_ row: Int) -> [Value] {
        [.integer(Int64(row * 7 % rows)), .text("item \(row)"), .blob(payload(row))]
    }

    func fill(_ run: ConformanceRun) throws {
        let store = try run.open(Self.schema)
        let item = try store.entity("Item")
        let others = try store.relationship("Item", "others")
        for part in 0..<4 {
            try store.change { changes in
                for row in 1...rows where row % 4 == part { try changes.insert(item, rowID: Int64(row), values(row)) }
            }
        }
        try store.change { changes in
            for row in 1...rows / 10 {
                changes.link(try store.pair(others, Int64(row), Int64(row + 1)))
                changes.link(try store.pair(others, Int64(row + 1), Int64(row)))
            }
        }
        try store.backend.close()
        // Engines with a log move its contents to their tables when they are opened.
        for _ in 0..<2 { try run.open(Self.schema).backend.close() }
    }

    /// A result, or the error instead.
    typealias Answer = Result<[[Value]], StoreError>

    private func reads(_ store: TestStore) throws -> [(name: String, read: (any ReadTransaction) throws -> [[Value]])] {
        let item = try store.entity("Item")
        let (number, name) = (try store.field("Item", "number"), try store.field("Item", "name"))
        let others = try store.relationship("Item", "others")
        func range(_ field: FieldReference) -> QueryPredicate {
            .and([
                .compare(field, .greaterOrEqual, .integer(Int64(rows / 4))), .compare(field, .lessOrEqual, .integer(Int64(rows * 3 / 4))),
            ])
        }
        var requests: [(String, FetchRequest)] = [
            ("all", FetchRequest(item)), ("a range of ids", FetchRequest(item, predicate: range(.objectID))),
            ("a range of an index", FetchRequest(item, predicate: range(number))),
            ("ids backwards", FetchRequest(item, sortKeys: [SortKey(.objectID, ascending: false)])),
            ("an index backwards", FetchRequest(item, predicate: range(number), sortKeys: [SortKey(number, ascending: false)])),
            ("sorted by name", FetchRequest(item, sortKeys: [SortKey(name, ascending: true)])),
            ("the first", FetchRequest(item, limit: rows / 3)), ("a page", FetchRequest(item, limit: 10, offset: rows / 2)),
        ]
        for row in stride(from: 1, through: rows, by: max(1, rows / 20)) {
            requests.append(("by name \(row)", FetchRequest(item, predicate: .compare(name, .equal, .text("item \(row)")))))
        }
        for query in ["item", "\"item \(rows / 2)\"", "item -\(rows / 3)", "1*"] {
            let condition = try SearchCondition(Search(query), in: item.searchIndexes[0], of: item)
            requests.append(("a search for \(query)", FetchRequest(item, predicate: .search(condition))))
            let order = [SortKey(.score(condition), ascending: false)]
            requests.append(("the best of \(query)", FetchRequest(item, predicate: .search(condition), sortKeys: order, limit: 5)))
        }
        var scan = FetchRequest(item, predicate: range(number))
        scan.ignoresIndexes = true
        requests.append(("a range by a scan", scan))
        return requests.flatMap { title, request -> [(String, (any ReadTransaction) throws -> [[Value]])] in
            [
                ("fetch: \(title)", { try $0.rows(request) }), ("count: \(title)", { [[.integer(Int64(try $0.count(request)))]] }),
                ("ids: \(title)", { [try $0.ids(request).map { .integer($0) }] }),
            ]
        } + [
            ("records by id", { reader in try (1...rows).map { try reader.row(item, Int64($0)) ?? [] } }),
            (
                "related",
                { reader in
                    let found = try reader.related(others, of: (1...rows).map { Int64($0) })
                    return (1...rows).map { found[Int64($0)].map { .integer($0) } }
                }
            ),
            ("groups", { try $0.aggregate(AggregateRequest(item, groupBy: [number], aggregates: [.count])).map { $0.group + $0.values } }),
        ]
    }

    /// Returns the result of each way of reading.
    func answers(_ run: ConformanceRun) throws -> [String: Answer] {
        let store = try run.open(Self.schema)
        defer { try? store.backend.close() }
        return Dictionary(uniqueKeysWithValues: try reads(store).map { ($0.name, try read(store, $0.read)) })
    }

    private func read(_ store: TestStore, _ body: (any ReadTransaction) throws -> [[Value]]) throws -> Answer {
        do { return .success(try store.read(body)) } catch let error as StoreError { return .failure(error) }
    }

    /// The outcome of one damaged image.
    struct Outcome {
        /// A Boolean value that indicates whether opening, a read or `verify` has reported the damage.
        var isFound = false
        var isRefused = false
        /// The ways of reading that returned another result than before the damage, without an error.
        var wrong: [String] = []
    }

    /// Opens the current files and reads the store in every way.
    func compare(_ run: ConformanceRun, with expected: [String: Answer]) throws -> Outcome {
        var outcome = Outcome()
        let store: TestStore
        do { store = try run.open(Self.schema) } catch is StoreError {
            outcome.isFound = true
            outcome.isRefused = true
            return outcome
        }
        defer { try? store.backend.close() }
        for (name, body) in try reads(store) {
            switch (try read(store, body), expected[name]) {
            case (.failure, _): outcome.isFound = true
            case (.success(let found), .success(let right)?):
                guard found != right else { continue }
                outcome.wrong.append("\(name): \(found.count) rows instead of \(right.count), or other values")
            default: outcome.wrong.append("\(name): no answer to compare with")
            }
        }
        guard store.backend.capabilities.features.contains(.verification) else { return outcome }
        do {
            if try !store.backend.verify().isEmpty { outcome.isFound = true }
        } catch is StoreError { outcome.isFound = true }
        return outcome
    }
}
