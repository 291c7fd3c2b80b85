import PolyStoreBackend
import PolyStoreCore
import PolyStoreRuns
import TestModels
import TestSupport
import Testing

/// Transactions, commits and waits that are logged as slow, with a clock that advances by 7 ms at each reading.
@Suite struct SlowWriteTests {
    private let logger = RecordingLogger()
    private let stack: DataStack

    init() throws {
        stack = try DataStack(companySchema, logger: logger)
        stack.snapshotWarningAge = .seconds(100_000)
        let time = Protected<UInt64>(0)
        stack.core.slowOperations.clock.exchange {
            time.withLock { time in
                time += 7_000_000
                return time
            }
        }
        try stack.addStore(.inMemory())
        try stack.performAndWait { try $0.create(Person.self).email = "first" }
    }

    private func entries(_ operation: String) -> [RecordingLogger.Entry] {
        logger.entries.filter { $0.metadata[.operation] == .text(operation) }
    }

    @Sendable private static func change(_ transaction: Transaction) throws {
        try transaction.create(Person.self).email = "a"
        try transaction.create(Department.self).title = "b"
        try #require(try transaction.fetchOne(From<Person>().where(\.email == "first"))).age = 3
    }

    @Test func nothingIsMeasuredByDefault() throws {
        #expect(stack.slowWriteThresholds == SlowWriteThresholds())
        try stack.performAndWait(Self.change)
        #expect(logger.entries.isEmpty)
    }

    @Test func aSlowTransactionIsLogged() throws {
        stack.slowWriteThresholds.transaction = .zero
        let line: UInt = #line + 1
        try stack.performAndWait(Self.change)
        let entry = try #require(logger.entries.first)
        #expect(logger.entries.count == 1)
        #expect(entry.level == .warning)
        #expect(entry.line == line)
        let location = stack.stores[0].location
        #expect(entry.message == "A transaction took 7.0 ms: 2 inserted, 1 updated, 0 deleted in \(location)")
        #expect(
            entry.metadata == [
                .operation: .text("transaction"), .milliseconds: .number(7), .inserted: .count(2), .updated: .count(1), .deleted: .count(0),
                .values: .count(0), .entity: .text("Dept,Person"), .store: .text(location),
            ])
    }

    @Test func aSlowCommitIsLogged() async throws {
        stack.slowWriteThresholds.commit = .milliseconds(7)
        try await stack.perform(Self.change)
        let entry = try #require(logger.entries.first)
        #expect(logger.entries.count == 1)
        let location = stack.stores[0].location
        #expect(entry.message == "A commit took 7.0 ms: 2 inserted, 1 updated, 0 deleted in \(location), transactions: 1")
        #expect(entry.metadata[.operation] == .text("commit"))
        #expect(entry.metadata[.transactions] == .count(1))
        #expect(entry.metadata[.store] == .text(location))
    }

    @Test func slowWaitsAreLogged() async throws {
        stack.slowWriteThresholds.wait = .zero
        try await stack.perform(Self.change)
        try stack.performAndWait { _ in }
        try stack.beginSynchronous { _ in }
        #expect(entries("wait").count == 4)
        #expect(entries("wait").map { $0.metadata[.store] } == [nil, .text(stack.stores[0].location), nil, nil])
        #expect(entries("wait").allSatisfy { $0.metadata[.milliseconds] == .number(7) })
    }

    @Test func fastWritesAreNotLogged() throws {
        stack.slowWriteThresholds = SlowWriteThresholds(transaction: .milliseconds(100), commit: .milliseconds(8), wait: .seconds(1))
        #expect(stack.slowWriteThresholds.commit == .milliseconds(8))
        try stack.performAndWait(Self.change)
        #expect(logger.entries.isEmpty)
        stack.slowWriteThresholds = SlowWriteThresholds()
        #expect(stack.slowWriteThresholds == SlowWriteThresholds())
    }

    @Test func slowQueriesHaveTheSameMetadata() throws {
        stack.slowQueryThreshold = .zero
        _ = try stack.readAndWait { try $0.fetchCount(From<Person>()) }
        let entry = try #require(entries("count").first)
        #expect(entry.metadata[.entity] == .text("Person"))
        #expect(entry.metadata[.milliseconds] == .number(7))
        #expect(entry.metadata[.store] == .text(stack.stores[0].location))
        let plan = try #require(entry.metadata[.plan])
        #expect(entry.message == "Count took 7.0 ms: \(plan)")
    }

    @Test func aLoggerWithoutMetadataReceivesTheMessage() throws {
        final class Plain: StoreLogger {
            let messages = Protected<[String]>([])
            func isEnabled(_ level: LogLevel) -> Bool { level >= .warning }
            func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString) {
                messages.withLock { $0.append(message) }
            }
        }
        let plain = Plain()
        stack.logger = plain
        stack.slowWriteThresholds.transaction = .zero
        try stack.performAndWait { _ in }
        #expect(plain.messages.withLock { $0 } == ["A transaction took 7.0 ms: 0 inserted, 0 updated, 0 deleted"])
    }

    @Test func theNamesAreStable() {
        let names = [
            LogKey.operation, .milliseconds, .store, .entity, .plan, .transactions, .inserted, .updated, .deleted, .values,
        ].map(\.description)
        #expect(
            names == ["operation", "duration_ms", "store", "entity", "plan", "transactions", "inserted", "updated", "deleted", "values"])
        #expect([LogValue.text("a"), .count(1), .number(0.5)].map(\.description) == ["a", "1", "0.5"])
    }
}
