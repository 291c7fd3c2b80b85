import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// The simulated server of the tests: its counts, its faults, and what the object layer makes of them.
@Suite struct SimulatedServerTests {
    private struct Served {
        let server: SimulatedServer
        let stack: DataStack
        let logger = RecordingLogger()

        init(_ server: SimulatedServer = SimulatedServer()) throws {
            self.server = server
            stack = try DataStack(companySchema, logger: logger)
            stack.snapshotWarningAge = .seconds(100_000)
            try stack.addStore(.simulatedServer(server))
        }

        @Sendable static func creating(_ number: Int) -> @Sendable (Transaction) throws -> Void { { _ = try $0.createPerson(number) } }

        var ages: [Int] {
            get throws { try stack.readAndWait { try $0.fetchAll(From<Person>().orderBy(.ascending(\.age))).map(\.age) } }
        }
    }

    @Test func aScanIsOneCallForEachBatchOfRows() throws {
        let served = try Served(SimulatedServer(batchSize: 100))
        try served.stack.performAndWait { transaction throws in for number in 0..<250 { _ = try transaction.createPerson(number) } }
        var count = 0
        let calls = try served.server.calls { count = try served.ages.count }
        #expect(count == 250)
        #expect(calls[.scan] == 1)
        #expect(calls[.fetch] == 2)
    }

    @Test func resultsDoNotDependOnWhatTheServerEvaluates() throws {
        for pushesDown in [true, false] {
            let served = try Served(SimulatedServer(batchSize: 3, pushesDown: pushesDown))
            try served.stack.performAndWait { transaction throws in for number in 0..<10 { _ = try transaction.createPerson(number) } }
            let found = try served.stack.readAndWait { context in
                try context.fetchAll(From<Person>().where(\.age > 3).orderBy(.descending(\.age)).limit(3)).map(\.age)
            }
            #expect(found == [9, 8, 7])
            #expect(try served.stack.readAndWait { try $0.fetchCount(From<Person>().where(\.age > 3)) } == 6)
        }
    }

    @Test func delayedCallsHaveTheSameResults() throws {
        let served = try Served()
        served.server.delay(by: .microseconds(10))
        try served.stack.performAndWait(Served.creating(1))
        #expect(try served.ages == [1])
    }

    @Test(arguments: [
        (SimulatedServer.Fault.refused, StoreError.Code.io), (.timeout, .busy), (.connectionLost(isExecuted: false), .io),
    ])
    func aCallThatFailsChangesNothing(_ fault: SimulatedServer.Fault, _ code: StoreError.Code) throws {
        for call in [SimulatedServer.Call.beginWrite, .apply, .commit] {
            let served = try Served()
            try served.stack.performAndWait(Served.creating(1))
            served.server.resetCounts()
            served.server.fail(call, at: 1, with: fault)
            expectError(code) { try served.stack.performAndWait(Served.creating(2)) }
            #expect(served.server.faultCount == 1)
            #expect(try served.ages == [1], "\(call)")
            try served.stack.performAndWait(Served.creating(3))
            #expect(try served.ages == [1, 3], "\(call)")
        }
    }

    @Test func aCommitWhoseResponseIsLostIsStored() throws {
        let served = try Served()
        served.server.fail(.commit, at: 1, with: .connectionLost(isExecuted: true))
        expectError(.io) { try served.stack.performAndWait(Served.creating(1)) }
        #expect(try served.ages == [1])
    }

    @Test func aLostConnectionRefusesEveryFurtherCall() throws {
        let server = SimulatedServer()
        let schema = try ResolvedSchema(SchemaDescription(name: "Notes", entities: [EntityDescription(name: "Note", properties: [])]))
        let store = try StoreConfiguration.simulatedServer(server).open(schema: schema, configurationName: nil, logger: RecordingLogger())
        let reader = try store.beginRead()
        server.fail(.count, at: 1, with: .connectionLost(isExecuted: false))
        for _ in 0..<2 { expectError(.io) { try reader.count(FetchRequest(schema.entities[0])) } }
        reader.end()
        expectError(.closed) { try reader.count(FetchRequest(schema.entities[0])) }
        #expect(server.counts[.end] == nil)
        let next = try store.beginRead()
        #expect(try next.count(FetchRequest(schema.entities[0])) == 0)
        next.end()
    }

    /// Every acknowledged transaction is stored, and every one that failed before its commit was executed is not.
    @Test func equalSeedsGiveEqualFaults() throws {
        func run(_ seed: UInt64) throws -> (failed: [Int], stored: [Int]) {
            let served = try Served()
            served.server.fail(
                percentage: 20, of: [.beginWrite, .apply, .commit, .reserveIDs], seed: seed,
                with: [.refused, .timeout, .connectionLost(isExecuted: false)])
            var failed: [Int] = []
            for number in 0..<40 {
                do { try served.stack.performAndWait(Served.creating(number)) } catch is StoreError { failed.append(number) }
            }
            served.server.endFaults()
            return (failed, try served.ages)
        }
        var outcomes: Set<[Int]> = []
        for seed in 1...4 as ClosedRange<UInt64> {
            let (failed, stored) = try run(seed)
            #expect(!failed.isEmpty && !stored.isEmpty, "seed \(seed)")
            #expect((failed + stored).sorted() == Array(0..<40), "seed \(seed)")
            #expect(try run(seed).failed == failed, "seed \(seed)")
            outcomes.insert(failed)
        }
        #expect(outcomes.count > 1)
    }
}
