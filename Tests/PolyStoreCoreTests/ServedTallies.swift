import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport

/// Tallies in a store on a simulated server.
struct ServedTallies: Sendable {
    let server: SimulatedServer
    let stack: DataStack

    /// - Parameter count: The number of tallies that the store has before the test.
    init(_ server: SimulatedServer = SimulatedServer(), _ faults: Faults? = nil, count: Int = 1) throws {
        self.server = server
        stack = try DataStack(Schema("Tallies", Tally.self), logger: RecordingLogger(.critical))
        stack.snapshotWarningAge = .seconds(100_000)
        // Independent of the speed of the machine.
        stack.groupLimits.nanoseconds = .max
        stack.groupLimits.backOff.first = .zero
        let store = StoreConfiguration.simulatedServer(server)
        try stack.addStore(faults.map { store.wrapped($0) } ?? store)
        // The first commit also writes the list of versions.
        try stack.performAndWait { transaction in
            for number in 0..<count { try transaction.create(Tally.self).name = "first \(number)" }
        }
        server.resetCounts()
    }

    /// The names of all objects except the first ones, sorted.
    var names: [String] { get throws { try stack.readAndWait { try Self.names(in: $0) } } }

    static func names(in context: Context) throws -> [String] {
        try context.fetchAll(From<Tally>()).map(\.name).filter { !$0.hasPrefix("first") }.sorted()
    }

    /// Fails calls of one kind, from the next one on.
    func fail(_ call: SimulatedServer.Call, times: Int = 1, with fault: SimulatedServer.Fault = .notSerializable) {
        server.resetCounts()
        for number in 1...times { server.fail(call, at: number, with: fault) }
    }

    /// Runs transactions as one group, and counts the calls from its begin.
    /// - Returns: The error of each transaction; nil for one that was committed.
    func group(_ bodies: [@Sendable (Transaction) throws -> Void]) async throws -> [StoreError?] {
        let gate = try await QueueGate(stack)
        server.resetCounts()
        let tasks = try await QueueGate.line(stack, bodies)
        try await gate.open()
        var errors: [StoreError?] = []
        for task in tasks {
            do {
                try await task.value
                errors.append(nil)
            } catch { errors.append(error as? StoreError ?? StoreError(.io, "\(error)")) }
        }
        return errors
    }
}

/// The tallies that the commits of a stack have inserted, as its observers receive them.
final class ObservedTallies: Sendable {
    private let stack: DataStack
    private let commits = Protected<[[ObjectID<Tally>]]>([])
    private let observation: CommitObservation

    init(_ stack: DataStack) {
        self.stack = stack
        observation = stack.observeCommits { [commits] commit in commits.withLock { $0.append(Array(commit.insertedObjectIDs(Tally.self))) }
        }
    }

    /// Commits one more tally and returns the objects of each commit before it.
    /// - Parameter store: The configuration of the store; nil if there is one store.
    func all(in store: String? = nil) async throws -> [[ObjectID<Tally>]] {
        let last = try await stack.perform { transaction in
            let last = try transaction.create(store.map { Into<Tally>($0) } ?? Into<Tally>())
            last.name = "first after \(last.objectID)"
            return last.objectID
        }
        // Observers are notified after the caller, in the order of the commits.
        while true {
            let told = commits.withLock { $0 }
            if let index = told.firstIndex(of: [last]) { return Array(told[..<index]) }
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}
