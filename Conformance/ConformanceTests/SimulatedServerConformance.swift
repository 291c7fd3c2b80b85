import ConformanceTargets
import PolyStoreBackend
import PolyStoreConformance
import PolyStoreQuery
import TestSupport
import Testing

/// The suite on the server of the tests, which implements the contract by the protocols alone. All cases run in the thorough ring.
@Suite struct SimulatedServerConformance {
    /// The areas of the commit ring, which are about the calls and not about what the in-memory backend evaluates.
    private static let areas = ["claims", "transaction", "recovery", "lifetime", "writing", "refusal", "isolation", "snapshot", "apply"]
    static let cases = ConformanceCase.all.filter { c in
        Ring.current == .thorough || areas.contains { c.id.hasPrefix($0 + ".") }
    }

    /// A server that evaluates what the in-memory backend evaluates, and begins a write transaction with its first call. Batches of three rows end within most results.
    private static let server = target(
        "server", pushesDown: true, knowsCommits: true, Targets.memory.capabilities.union([.requiredObjects]))

    /// A server that returns all rows of an entity, so that the shared executor evaluates each request.
    private static let plain = target(
        "plain server", pushesDown: false, knowsCommits: false, Targets.memory.capabilities.subtracting([.plannedIndexes]))

    private static func target(
        _ name: String, pushesDown: Bool, knowsCommits: Bool, _ capabilities: Set<Capabilities.Feature>
    ) -> ConformanceTarget {
        let servers = Protected<[String: SimulatedServer]>([:])
        return ConformanceTarget(
            name: name, capabilities: capabilities,
            store: { location in
                let server = SimulatedServer(batchSize: 3, pushesDown: pushesDown, knowsCommits: knowsCommits, beginsLate: pushesDown)
                servers.withLock { $0[location.path] = server }
                return .simulatedServer(server)
            },
            teardown: { location in servers.withLock { _ = $0.removeValue(forKey: location.path) } },
            failCommit: { location, fault in
                guard let server = servers.withLock({ $0[location.path] }) else { return }
                server.resetCounts()
                switch fault {
                case .notSerializable: server.fail(.commit, at: 1, with: .notSerializable)
                case .responseLost(let isCommitted): server.fail(.commit, at: 1, with: .connectionLost(isExecuted: isCommitted))
                }
            })
    }

    /// The snapshots that the object layer reads from a server, with their sessions, the records that they keep and the reads of blocks of rows.
    private static let ahead = ConformanceTarget(
        name: "server with reads ahead", capabilities: Targets.memory.capabilities.subtracting([.plannedIndexes]).union([.shortSnapshots])
    ) { _ in
        let server = StoreConfiguration.simulatedServer(SimulatedServer(batchSize: 3, pushesDown: false, hasShortSnapshots: true))
        return StoreConfiguration(engine: server.engine, location: server.location, isShared: false) { request in
            var server = server
            server.isReadOnly = request.isReadOnly
            return try server.open(schema: request.schema, configurationName: request.configurationName, logger: request.logger)
                .readingAhead(sessions: SnapshotSessions())
        }
    }

    @Test(arguments: cases)
    func conforms(_ c: ConformanceCase) async throws { try await c.run(Self.server) }

    @Test(arguments: cases)
    func conformsWithoutEvaluation(_ c: ConformanceCase) async throws { try await c.run(Self.plain) }

    @Test(arguments: cases)
    func conformsWithReadsAhead(_ c: ConformanceCase) async throws { try await c.run(Self.ahead) }
}
