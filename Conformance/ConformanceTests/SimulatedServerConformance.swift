import ConformanceTargets
import PolyStoreConformance
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

    @Test(arguments: cases)
    func conforms(_ c: ConformanceCase) async throws { try await c.run(Self.server) }

    @Test(arguments: cases)
    func conformsWithoutEvaluation(_ c: ConformanceCase) async throws { try await c.run(Self.plain) }
}
