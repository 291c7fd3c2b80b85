import PolyStoreKernel

/// Retains a value of the main actor until it is released on the main actor.
final class MainActorBox<Value>: @unchecked Sendable {  // the value is made and released on the main actor
    private var value: Value?

    @MainActor init(_ value: Value) { self.value = value }

    @MainActor func release() { value = nil }
}
