// expected: type 'Transaction' does not conform to the 'Sendable' protocol
import PolyStoreCore

func leak(_ stack: DataStack) async throws {
    let kept = try await stack.perform { transaction in transaction }
    print(kept)
}
