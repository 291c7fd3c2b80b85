import Foundation
import PolyStoreBackend
import PolyStoreQuery
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// The round trips of operations of the contract, counted by the messages of the protocol.
@Suite(.withServer) struct RoundTripTests {
    /// An operation whose round trips Tests/roundtrips.txt lists.
    private struct Operation: Sendable {
        let name: String
        /// The number of people in the store, with row ids from 1 on.
        var people: Int64 = 0
        /// The number of articles in a store with a full-text index, with row ids from 1 on; nil for a store of people.
        var articles: Int64?
        /// Executes the operation with row ids that are not in use.
        let run: @Sendable (Store, _ free: Int64) throws -> Void
    }

    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("roundtrips.txt")
    private static let header = """
        # The responses of a PostgreSQL server that an operation of the storage contract waits for. Each costs a round trip.
        # The beginning of a snapshot is sent ahead, and its response arrives with that of the first request: it is not counted.
        # The test RoundTripTests compares this listing. Write it with: POLYSTORE_WRITE_ROUND_TRIPS=1 swift test --filter RoundTripTests

        """

    private static func people(_ store: Store, _ free: Int64, _ count: Int64) throws -> ChangeSet {
        try store.people((free..<free + count).map { ($0, "name \($0)", "mail \($0)") })
    }

    private static func articles(_ store: Store, _ free: Int64, _ count: Int64) throws -> ChangeSet {
        try store.articles((free..<free + count).map { ($0, "The quick fox \($0)", $0 % 10 == 0 ? "a lazy dog" : nil) })
    }

    private static func commit(_ store: Store, _ sets: [ChangeSet], _ durability: Durability = .full) throws {
        let transaction = try store.backend.beginWrite()
        let results = try transaction.apply(sets, committing: durability)
        if results.version == nil { transaction.rollback() }
    }

    private static func reading(_ name: String, _ body: @escaping @Sendable (Store, any ReadTransaction) throws -> Void) -> Operation {
        Operation(name: "snapshot, " + name, people: 1000) { store, _ in try store.read { try body(store, $0) } }
    }

    private static let operations: [Operation] = [
        Operation(name: "open a store") { store, _ in _ = try store.reopened() },
        reading("nothing read") { _, _ in },
        reading("its version") { _, reader in _ = try reader.version },
        reading("one record") { store, reader in _ = try reader.record(store.entity("Person"), rowID: 5) },
        reading("1,000 records") { store, reader in _ = try reader.ids(FetchRequest(store.entity("Person"))) },
        reading("1,000 records by their row ids") { store, reader in
            _ = try reader.ids(FetchRequest(store.entity("Person"), predicate: .oneOf(.objectID, (1...1000).map { .integer($0) })))
        },
        reading("the number of records") { store, reader in _ = try reader.count(FetchRequest(store.entity("Person"))) },
        reading("the related objects of 100 objects") { store, reader in
            _ = try reader.related(store.entity("Firm").relationships[0], of: Array(1...100))
        },
        reading("numbers by group") { store, reader in
            _ = try reader.scanGroups(
                AggregateRequest(store.entity("Person"), predicate: .all, groupBy: [store.field("Person", "name")], aggregates: [.count]))
        },
        reading("a named value") { _, reader in _ = try reader.value(named: "v") },
        reading("entries of the log") { _, reader in _ = try reader.logEntries(after: 0, limit: 10) },
        Operation(name: "transaction without changes") { store, _ in try store.backend.beginWrite().rollback() },
        Operation(name: "transaction, one object inserted") { store, free in try commit(store, [people(store, free, 1)]) },
        Operation(name: "transaction, one object inserted, relaxed") { store, free in try commit(store, [people(store, free, 1)], .relaxed)
        },
        Operation(name: "transaction, one object inserted and another required", people: 1) { store, free in
            let changes = try people(store, free, 1)
            let (person, firm) = (try store.entity("Person").index, try store.entity("Firm").index)
            changes.require(.init(entity: person, rowID: 1, owner: firm, relationship: 0, ownerRowID: 1))
            try commit(store, [changes])
        },
        Operation(name: "transaction, 1,000 objects inserted") { store, free in try commit(store, [people(store, free, 1000)]) },
        Operation(name: "transaction, \(ChangeWriter.leastCopied - 1) objects inserted") { store, free in
            try commit(store, [people(store, free, Int64(ChangeWriter.leastCopied - 1))])
        },
        Operation(name: "transaction, \(ChangeWriter.leastCopied) objects inserted, copied") { store, free in
            try commit(store, [people(store, free, Int64(ChangeWriter.leastCopied))])
        },
        Operation(name: "transaction, 1,000 objects of 9 kB inserted, copied") { store, free in
            let text = String(repeating: "x", count: 9000)
            try commit(store, [store.people((free..<free + 1000).map { ($0, text, nil) })])
        },
        Operation(name: "group of 64 transactions that insert") { store, free in
            try commit(store, (0..<64 as Range<Int64>).map { try people(store, free + $0, 1) })
        },
        Operation(name: "transaction, 100 objects updated, 100 deleted, 100 inserted", people: 1000) { store, free in
            let changes = try people(store, free, 100)
            var mask = FieldMask()
            mask.insert(0)
            let first = (free > 10_000_000 ? 501 : 1) as Int64
            for id in first..<first + 100 {
                try changes.update(store.entity("Person"), rowID: id, mask: mask) { $0.setText(0, "new") }
                changes.delete(try store.entity("Person"), rowID: id + 100)
            }
            try commit(store, [changes])
        },
        Operation(name: "transaction, a log entry and a named value") { store, _ in
            let changes = ChangeSet(store.schema)
            changes.appendLogEntry([1])
            try changes.setValue([1], named: "v")
            try commit(store, [changes])
        },
        Operation(name: "transaction, 1,000 row ids reserved, then that many objects inserted") { store, _ in
            let transaction = try store.backend.beginWrite()
            let first = try transaction.reserveIDs(store.entity("Person"), count: 1000)
            _ = try transaction.apply([people(store, first, 1000)], committing: .full)
        },
        Operation(name: "transaction, refused", people: 1) { store, free in
            let transaction = try store.backend.beginWrite()
            _ = try? transaction.apply(store.people([(free, "n", "mail 1")]))
            transaction.rollback()
        },
        Operation(name: "transaction, 1,000 objects read and updated", people: 1000) { store, _ in
            let transaction = try store.backend.beginWrite()
            let ids = try transaction.ids(FetchRequest(store.entity("Person")))
            let changes = ChangeSet(store.schema)
            var mask = FieldMask()
            mask.insert(0)
            for id in ids { try changes.update(store.entity("Person"), rowID: id, mask: mask) { $0.setText(0, "new") } }
            _ = try transaction.apply([changes], committing: .full)
        },
        Operation(name: "full-text index: open the store", articles: 10) { store, _ in _ = try store.reopened() },
        Operation(name: "full-text index: transaction, an object of another entity", articles: 10) { store, free in
            let changes = ChangeSet(store.schema)
            try changes.insert(store.entity("Plain"), rowID: free) { $0.setText(0, "text") }
            try commit(store, [changes])
        },
        Operation(name: "full-text index: transaction, an attribute without index", articles: 10) { store, free in
            let changes = ChangeSet(store.schema)
            var mask = FieldMask()
            mask.insert(2)
            try changes.update(store.article, rowID: 5, mask: mask) { $0.setText(2, "code \(free)") }
            try commit(store, [changes])
        },
        Operation(name: "full-text index: transaction, one object inserted", articles: 10) { store, free in
            try commit(store, [articles(store, free, 1)])
        },
        Operation(name: "full-text index: transaction, 1,000 objects inserted", articles: 10) { store, free in
            try commit(store, [articles(store, free, 1000)])
        },
        Operation(name: "full-text index: transaction, \(ChangeWriter.leastCopied) objects inserted, copied", articles: 10) { store, free in
            try commit(store, [articles(store, free, Int64(ChangeWriter.leastCopied))])
        },
        Operation(name: "full-text index: transaction, one object updated, another deleted, another inserted", articles: 10) {
            store, free in
            let changes = try articles(store, free, 1)
            var mask = FieldMask()
            mask.insert(0)
            let first: Int64 = free > 10_000_000 ? 3 : 1
            try changes.update(store.article, rowID: first, mask: mask) { $0.setText(0, "new") }
            changes.delete(try store.article, rowID: first + 1)
            try commit(store, [changes])
        },
        Operation(name: "full-text index: group of 64 transactions that insert", articles: 10) { store, free in
            try commit(store, (0..<64 as Range<Int64>).map { try articles(store, free + $0, 1) })
        },
        Operation(name: "full-text index: change set applied, then commit", articles: 10) { store, free in
            try store.write(articles(store, free, 1))
        },
        Operation(name: "full-text index: snapshot, the ids of a term", articles: 1000) { store, _ in
            try store.read { _ = try $0.search(SearchRequest(store.condition("lazy"))) }
        },
        Operation(name: "full-text index: snapshot, the best 10 of two terms", articles: 1000) { store, _ in
            try store.read { reader in
                let condition = try store.condition("quick dog")
                _ = try reader.search(SearchRequest(condition, scoredBy: reader.statistics(of: condition), limit: 10))
            }
        },
        Operation(name: "full-text index: snapshot, the records of the best 10 of a phrase", articles: 1000) { store, _ in
            try store.read { reader in
                let condition = try store.condition("\"quick fox\"")
                let key = SortKey(.score(condition), ascending: false)
                _ = try reader.ids(FetchRequest(store.article, predicate: .search(condition), sortKeys: [key], limit: 10))
            }
        },
    ]

    /// Fails if an operation waits for another number of responses than Tests/roundtrips.txt lists. With POLYSTORE_WRITE_ROUND_TRIPS=1 the file is written.
    @Test func operationsTakeTheListedRoundTrips() throws {
        var lines: [String] = []
        for operation in Self.operations {
            let proxy = try ConnectionProxy(TestServer.get())
            defer { proxy.stop() }
            var counts: [Int] = []
            _ = try proxy.awaitedResponses {
                let store = try Store(proxy.url(), schema: operation.articles == nil ? nil : articleSchema())
                if let count = operation.articles {
                    try store.write(Self.articles(store, 1, count))
                } else {
                    try store.write(Self.people(store, 1, operation.people))
                }
                // Afterwards the statements are parsed, which must not make a difference.
                for free in [1_000_000, 20_000_000] as [Int64] {
                    counts.append(try proxy.awaitedResponses { try operation.run(store, free) })
                }
                try store.backend.close()
            }
            #expect(counts[0] == counts[1], "\(operation.name), the first time and the second")
            lines.append("\(operation.name): \(counts[1])")
        }
        if ProcessInfo.processInfo.environment["POLYSTORE_WRITE_ROUND_TRIPS"] != nil {
            try (Self.header + lines.joined(separator: "\n") + "\n").write(to: Self.file, atomically: true, encoding: .utf8)
        }
        let listed = try String(contentsOf: Self.file, encoding: .utf8).split(separator: "\n").map(String.init).filter {
            !$0.hasPrefix("#")
        }
        #expect(lines == listed, "Tests/roundtrips.txt lists other numbers. Write it again with POLYSTORE_WRITE_ROUND_TRIPS=1.")
    }
}
