import PolyStoreBackend

/// A value that a query compares with.
enum Binding {
    case integer(Int64)
    case real(Double)
    case text(String)
    /// Text as bytes that need not be valid UTF-8: the end of a range.
    case textBytes([UInt8])
    case blob([UInt8])

    /// - Returns: `nil` for null.
    init?(_ value: Value) {
        switch value {
        case .null: return nil
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .real(value)
        case .text(let value): self = .text(value)
        case .blob(let value): self = .blob(value)
        }
    }
}
