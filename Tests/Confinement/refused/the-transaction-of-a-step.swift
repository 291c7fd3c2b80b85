// expected: type 'UnsafeTransaction' does not conform to the 'Sendable' protocol
import PolyStoreCore

func leak(_ stack: DataStack) async throws {
    let kept = try await stack.beginTransaction().perform { step in step }
    print(kept)
}
