import Foundation
import PolyStoreBackend
import PolyStoreCore
import PostgreSQLServer
import TestModels
import Testing

@testable import PolyStorePostgreSQL

/// Migrations of many rows. A part of the thorough ring migrates a million, in a process of its own; `POLYSTORE_MIGRATED_ROWS` sets their number.
@Suite(.withServer, .serialized) struct LargeMigrationTests {
    /// The memory that a migration may need in addition to that of the process before it, in bytes.
    private static let mostMemory = 64 << 20
    private static let rows = ProcessInfo.processInfo.environment["POLYSTORE_MIGRATED_ROWS"].flatMap { Int($0) }

    /// Returns the resident memory of this process in bytes; nil if the system does not say it.
    private static func residentMemory() -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 4096 }
    }

    /// Fills a store on the server: people, and a pair of friends for every second one.
    private func fill(_ options: PostgreSQLOptions, rows: Int) throws -> Store {
        let description = try RolloutChange.company.description(ofConfiguration: nil)
        let store = try Store(options: options, schema: ResolvedSchema(description))
        let tables = try StoreTables(ResolvedSchema(description), in: options.schema)
        let person = try #require(tables.entities.first { $0.entity.name == "Person" })
        let friends = try #require(zip(tables.schema.links, tables.links).first { $0.0.isSymmetric })
        try TestServer.get().psql(
            """
            INSERT INTO \(person.name) ("objectID", email, age, nickname)
            SELECT i, 'person' || i || '@example.com', i % 100, CASE WHEN i % 3 = 0 THEN NULL ELSE repeat('n' || i, 5) END FROM generate_series(1, \(rows)) AS i;
            INSERT INTO \(friends.1.name) (source, target) SELECT i, i + 1 FROM generate_series(1, \(rows) - 1, 2) AS i
            UNION ALL SELECT i + 1, i FROM generate_series(1, \(rows) - 1, 2) AS i;
            INSERT INTO \(options.schema).polystore_sequence (entity, next) VALUES ('Person', \(rows + 1));
            ANALYZE \(person.name)
            """)
        return store
    }

    /// - Parameter isRewritten: Whether the type of an attribute changes, so that the client reads and writes all objects. Otherwise statements in the server copy the rows.
    @Test(arguments: [false, true])
    func memoryDoesNotGrowWithTheStore(_ isRewritten: Bool) throws {
        let rows = Self.rows ?? 5000
        let options = TestServer.options()
        let store = try fill(options, rows: rows)
        var target = try RolloutChange.company.description(ofConfiguration: nil)
        let names = isRewritten ? ["type of an attribute changed"] : ["attribute renamed", "attribute added, with a default"]
        for change in RolloutChange.all where names.contains(change.description) { change.edit(&target) }
        target.name = "Company 2"
        try store.backend.close()
        // Sent by the client; the responses and the rows are not counted.
        let statements = Protected(0)
        let proxy = isRewritten ? nil : try ProtocolProxy(TestServer.get())
        defer { proxy?.stop() }
        proxy?.setRule { _ in
            statements.withLock { $0 += 1 }
            return .forward
        }
        let before = Self.residentMemory()
        let peak = Protected((bytes: 0, isOver: false))
        let sampling = inBackground {
            while !peak.withLock({ $0.isOver }) {
                let bytes = Self.residentMemory() ?? 0
                peak.withLock { $0.bytes = max($0.bytes, bytes) }
                Deadline.pause(milliseconds: 10)
            }
        }
        let start = ContinuousClock.now
        try migrateStore(proxy?.url() ?? TestServer.get().url(), options, from: RolloutChange.company, to: target)
        let time = ContinuousClock.now - start
        peak.withLock { $0.isOver = true }
        try sampling().get()
        let growth = before.map { peak.withLock { $0.bytes } - $0 }
        print(
            "Migration of \(rows) people, \(isRewritten ? "rewritten by the client" : "copied by \(statements.withLock { $0 }) statements"): "
                + "\(time), \(growth.map { "\($0 >> 10) KiB more memory" } ?? "memory unknown")")
        // Beside other tests the memory is also theirs.
        if let growth, Self.rows != nil { #expect(growth < Self.mostMemory) }
        if !isRewritten { #expect(statements.withLock { $0 } < 100) }
        let migrated = try Store(options: options, schema: ResolvedSchema(target))
        let person = try migrated.entity("Person")
        #expect(try migrated.read { try $0.count(FetchRequest(person)) } == rows)
        let fields = try ["email", "age"].map { try #require(person.field(named: $0)) }
        let values = try migrated.read { transaction in
            let record = try #require(try transaction.record(person, rowID: Int64(rows - 1)))
            return fields.map { record.value($0) }
        }
        let age = (rows - 1) % 100
        #expect(values == [.text("person\(rows - 1)@example.com"), isRewritten ? .text("\(age)") : .integer(Int64(age))])
        if Self.rows == nil { #expect(try migrated.backend.verify().isEmpty) }
    }
}
