import Foundation

extension Field {
    /// Checks that the field can represent a value without loss: an integer within the bounds of its type, a real that does not become infinite, a decimal
    /// that `Decimal` can represent. A real may be rounded to a `Float`.
    /// - Throws: `invalidValue`.
    public func check(_ value: Value) throws {
        let fits =
            switch value {
            case .null: true
            case .integer(let integer): type.physical == .integer && type.integerBounds.map { $0.contains(integer) } ?? true
            case .real(let real): type.physical == .real && (type != .float || !real.isFinite || Float(real).isFinite)
            case .text: type.physical == .text
            case .blob(let bytes):
                type.physical == .blob && (type != .decimal || bytes.withUnsafeBytes { Decimal(orderedBytes: $0) } != nil)
            }
        guard !fits else { return }
        throw StoreError(.invalidValue, "\(name) is \(type), which cannot hold \(value.literal).", attribute: name)
    }
}
