/// Keeps a value of the main actor alive until the main actor releases it.
final class MainActorBox<Value>: @unchecked Sendable {  // the value is made and released on the main actor
    private var value: Value?

    @MainActor init(_ value: Value) { self.value = value }

    @MainActor func release() { value = nil }
}
