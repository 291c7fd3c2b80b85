import Foundation
import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch
import PostgreSQLServer
import SeededRandom
import Testing

@testable import PolyStorePostgreSQL

/// Commits while connections end, statements fail or are late, and the server crashes. A part of the thorough ring takes ten minutes, with 50 crashes.
@Suite(.withServer) struct DisturbanceTests {
    @Test func nothingAcknowledgedIsLostAndNothingIsWrittenTwice() throws { try run(isSearched: false) }

    @Test func fullTextIndexContainsWhatIsAcknowledgedAndNothingElse() throws { try run(isSearched: true) }

    /// - Parameter isSearched: Whether the objects have a full-text index.
    private func run(isSearched: Bool) throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["POLYSTORE_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0 ... .max)
        let seconds = environment["POLYSTORE_DISTURBANCE_SECONDS"].flatMap { Int($0) } ?? 0
        print("POLYSTORE_SEED=\(seed)")
        // Without a time, the numbers of commits and crashes end the test.
        let crashes = seconds > 0 ? max(1, seconds / 12) : isSearched ? 1 : 2
        try Disturbance(seed: seed, isSearched: isSearched).run(crashes: crashes, seconds: seconds)
    }
}

/// Writers whose server and connections are disturbed at random.
private final class Disturbance: Sendable {
    private struct Findings {
        var acknowledged: Set<Int64> = []
        /// The rows of commits whose outcome was not found.
        var unknown: Set<Int64> = []
        var errors: [String: Int] = [:]
        var lookups = 0
        /// Behaviour that the contract excludes.
        var violations: [String] = []
        var longest = Duration.zero
        var crashes = 0
    }

    private static let writers = 3
    /// The number of commits between two crashes.
    private static let commitsPerCrash = 40
    /// The time after which an operation counts as one that hangs.
    private static let longestWait = Duration.seconds(180)

    private let seed: UInt64
    private let isSearched: Bool
    private let server: PostgreSQLServer
    private let proxy: ProtocolProxy
    private let store: Store
    private let options: PostgreSQLOptions
    private let random: Protected<SplitMix64>
    private let findings = Protected(Findings())
    private let isOver = Protected(false)

    init(seed: UInt64, isSearched: Bool) throws {
        self.seed = seed
        self.isSearched = isSearched
        random = Protected(SplitMix64(seed: seed))
        server = try PostgreSQLServer()
        proxy = try ProtocolProxy(server)
        var options = TestServer.options()
        options.responseTimeout = .seconds(2)
        options.busyTimeout = .seconds(20)
        options.connectTimeout = .seconds(10)
        options.cancelTimeout = .seconds(2)
        self.options = options
        store = try Store(proxy.url(), options: options, schema: companySchema(isTitleSearched: isSearched))
    }

    func run(crashes: Int, seconds: Int) throws {
        disturb()
        let calls = Protected(0)
        let listener = store.backend.announceCommits { calls.signal { $0 += 1 } }
        let threads = (0..<Self.writers).map { number in inBackground { try self.write(number) } } + [inBackground { try self.read() }]
        let end = ContinuousClock.now + .seconds(seconds)
        for number in 1...crashes {
            if seconds > 0 {
                let part = Duration.seconds(seconds) / crashes
                while .now < end - part * (crashes - number) { Deadline.pause(milliseconds: 50) }
            } else {
                let wanted = number * Self.commitsPerCrash
                findings.wait(until: { $0.acknowledged.count >= wanted || !$0.violations.isEmpty }, { _ in })
            }
            server.kill()
            try server.restart()
            findings.signal { $0.crashes += 1 }
        }
        let wanted = (crashes + 1) * Self.commitsPerCrash
        if seconds == 0 { findings.wait(until: { $0.acknowledged.count >= wanted || !$0.violations.isEmpty }, { _ in }) }
        isOver.withLock { $0 = true }
        proxy.reset()
        proxy.release()
        for thread in threads { try thread().get() }
        // The listener finds the server again.
        let before = calls.withLock { $0 }
        let other = try Store(server.url(), options: options, schema: store.schema)
        try other.write(changes(Int64(Self.writers) * 1_000_000 + 1), .full)
        calls.wait(until: { $0 > before }, { _ in })
        withExtendedLifetime(listener) {}
        try check(other)
    }

    /// Sets what happens to statements and responses.
    private func disturb() {
        proxy.setRule { [random] sql in
            let (number, time) = random.withLock { ($0.next() % 1000, Double($0.next() % 20) / 1000) }
            switch number {
            case ..<10: return .delay(time)
            // No server refuses a rollback.
            case ..<15 where sql != "ROLLBACK": return .fail("40001")
            case ..<19: return .drop
            case ..<21: return .halfClose(time * 10)
            case ..<22: return .stall
            case ..<60 where sql == "COMMIT": return number < 40 ? .fail("40001") : .drop
            default: return .forward
            }
        }
        proxy.setResponseRule { [random] tag in
            tag == "COMMIT" && random.withLock { $0.next() % 1000 } < 40 ? .drop : .forward
        }
    }

    private func changes(_ id: Int64) throws -> ChangeSet {
        let changes = ChangeSet(store.schema)
        try changes.insert(store.entity("Firm"), rowID: id) { $0.setText(0, "firm f\(id)") }
        changes.appendLogEntry(Array("\(id)".utf8))
        return changes
    }

    // MARK: Writers

    /// Commits one row after the other until the test is over. Repeats what was not committed.
    private func write(_ number: Int) throws {
        var id = Int64(number) * 1_000_000
        while !isOver.withLock({ $0 }) {
            id += 1
            while true {
                let began = ContinuousClock.now
                let outcome = attempt(id)
                let time = ContinuousClock.now - began
                findings.signal {
                    $0.longest = max($0.longest, time)
                    if time > Self.longestWait { $0.violations.append("\(id) took \(time)") }
                    if outcome == .unknown { $0.unknown.insert(id) }
                    if case .committed = outcome { $0.acknowledged.insert(id) }
                }
                if outcome != .notCommitted { break }
                Deadline.pause(milliseconds: 5)
            }
        }
    }

    private func attempt(_ id: Int64) -> CommitOutcome {
        do {
            let transaction = try store.backend.beginWrite()
            defer { transaction.rollback() }
            do {
                let results = try transaction.apply([changes(id)], committing: .full)
                if let error = results.errors.compactMap({ $0 }).first { throw error }
                guard let version = results.version else { return .notCommitted }
                return .committed(version: version)
            } catch let error as StoreError where error.recovery == .commitOutcomeUnknown {
                note(error)
                return outcome(transaction)
            }
        } catch let error as StoreError {
            note(error)
            // A row that was written although its commit was reported as failed.
            if error.code == .constraint { findings.signal { $0.violations.append("\(id): \(error)") } }
            return error.code == .constraint ? .unknown : .notCommitted
        } catch { return .notCommitted }
    }

    private func outcome(_ transaction: any WriteTransaction) -> CommitOutcome {
        findings.signal { $0.lookups += 1 }
        let end = ContinuousClock.now + Self.longestWait
        while .now < end {
            do { return try transaction.commitOutcome() } catch {
                // The server is down, or the connection was disturbed too.
                Deadline.pause(milliseconds: 20)
            }
        }
        return .unknown
    }

    private func note(_ error: StoreError) {
        let name = "\(error.code) \(error.recovery) \(error.sqlState)"
        findings.signal { $0.errors[name, default: 0] += 1 }
    }

    // MARK: Readers

    /// Reads one snapshot after the other. None is older than the one before.
    private func read() throws {
        var newest: UInt64 = 0
        while !isOver.withLock({ $0 }) {
            let began = ContinuousClock.now
            do {
                let (version, count) = try store.read { (try $0.version, try $0.count(FetchRequest(store.entity("Firm")))) }
                if version < newest { findings.signal { $0.violations.append("version \(version) after \(newest)") } }
                if count != Int(version) { findings.signal { $0.violations.append("\(count) rows in version \(version)") } }
                newest = max(newest, version)
                if isSearched { try search() }
            } catch let error as StoreError { note(error) }
            let time = ContinuousClock.now - began
            findings.signal {
                $0.longest = max($0.longest, time)
                if time > Self.longestWait { $0.violations.append("a reader took \(time)") }
            }
            Deadline.pause(milliseconds: 5)
        }
    }

    /// Searches in a snapshot, whose version is the number of rows.
    private func search() throws {
        let firm = try store.entity("Firm")
        let condition = try SearchCondition(Search("firm"), in: firm.searchIndexes[0], of: firm)
        let (version, hits) = try store.read { (try $0.version, try $0.search(SearchRequest(condition))) }
        if hits.map({ $0.documents.count }) != Int(version) {
            findings.signal { $0.violations.append("\(hits?.documents.count ?? -1) rows found in version \(version)") }
        }
    }

    // MARK: Findings

    private func check(_ store: Store) throws {
        let found = findings.withLock { $0 }
        let rows = try store.ids(FetchRequest(store.entity("Firm")))
        let entries = try store.read { transaction -> [String] in
            var entries: [String] = []
            var position: Int64 = 0
            while let next = try transaction.logEntries(after: position, limit: 10_000).nonEmpty {
                entries += next.map { String(decoding: $0.bytes, as: UTF8.self) }
                position = next.last?.position ?? position
            }
            return entries
        }
        let errors = found.errors.sorted { $0.key < $1.key }.map { "\($0.key.isEmpty ? "-" : $0.key): \($0.value)" }
        print(
            "Disturbance: \(found.acknowledged.count) commits acknowledged, \(found.crashes) crashes, \(found.lookups) outcomes looked up, \(found.unknown.count) unknown, "
                + "longest operation \(found.longest), errors: \(errors.joined(separator: ", "))")
        #expect(found.violations.isEmpty, "seed \(seed)")
        #expect(found.unknown.isEmpty, "seed \(seed)")
        // The last row is that of the other store.
        #expect(rows.count == found.acknowledged.count + 1, "seed \(seed)")
        #expect(found.acknowledged.isSubset(of: rows), "seed \(seed)")
        #expect(entries.count == rows.count, "seed \(seed)")
        #expect(Set(entries) == Set(rows.map { "\($0)" }), "seed \(seed)")
        #expect(try store.backend.verify().isEmpty)
    }
}

extension Array {
    fileprivate var nonEmpty: [Element]? { isEmpty ? nil : self }
}
