import ConformanceTargets
import PolyStoreBackend
import PolyStoreConformance
import PolyStoreQuery
import TestSupport
import Testing

/// The suite on the server of the tests, which implements the contract by the protocols alone. All cases run in the thorough ring.
@Suite struct SimulatedServerConformance {
    /// The areas of the commit ring, which are about the calls and not about what the in-memory backend evaluates.
    private static let areas = ["claims", "transaction", "lifetime", "writing", "refusal", "isolation"]
    static let cases = ConformanceCase.all.filter { c in
        Ring.current == .thorough || areas.contains { c.id.hasPrefix($0 + ".") }
    }

    /// A server that evaluates what the in-memory backend evaluates. Batches of three rows end within most results.
    private static let server = ConformanceTarget(name: "server", capabilities: Targets.memory.capabilities) { _ in
        .simulatedServer(SimulatedServer(batchSize: 3))
    }

    /// A server that returns all rows of an entity, so that the shared executor evaluates each request.
    private static let plain = ConformanceTarget(
        name: "plain server", capabilities: Targets.memory.capabilities.subtracting([.plannedIndexes])
    ) { _ in .simulatedServer(SimulatedServer(batchSize: 3, pushesDown: false)) }

    /// The snapshots that the object layer reads from a server, with the records that they keep and the reads of blocks of rows.
    private static let ahead = ConformanceTarget(
        name: "server with reads ahead", capabilities: Targets.memory.capabilities.subtracting([.plannedIndexes])
    ) { _ in
        let server = StoreConfiguration.simulatedServer(SimulatedServer(batchSize: 3, pushesDown: false))
        return StoreConfiguration(engine: server.engine, location: server.location, isShared: false) { request in
            var server = server
            server.isReadOnly = request.isReadOnly
            return try server.open(schema: request.schema, configurationName: request.configurationName, logger: request.logger)
                .readingAhead
        }
    }

    @Test(arguments: cases)
    func conforms(_ c: ConformanceCase) async throws { try await c.run(Self.server) }

    @Test(arguments: cases)
    func conformsWithoutEvaluation(_ c: ConformanceCase) async throws { try await c.run(Self.plain) }

    @Test(arguments: cases)
    func conformsWithReadsAhead(_ c: ConformanceCase) async throws { try await c.run(Self.ahead) }
}
