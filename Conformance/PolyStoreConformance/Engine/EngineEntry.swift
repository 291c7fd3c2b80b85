/// A key and its value. Descriptions abbreviate long values.
struct EngineEntry: Equatable, Sendable, CustomStringConvertible {
    let key: Bytes
    let value: Bytes

    var description: String { "\(hex(key))=\(hex(value))" }
}
