/// A key and its new value or removal.
struct EngineChange: Sendable {
    let key: Bytes
    /// The new value; `nil` removes the key.
    let value: Bytes?

    init(_ key: Bytes, _ value: Bytes?) {
        self.key = key
        self.value = value
    }
}
