/// A word of a condition: operation, comparison, variant, field.
struct ShapeWord {
    let operation: QueryShape.Operation
    let comparison: Int
    let variant: QueryShape.Variant
    /// The field index; -1 is the id.
    let fieldIndex: Int

    init(_ operation: QueryShape.Operation, fieldIndex: Int = -1, comparison: Int = 0, variant: QueryShape.Variant = .plain) {
        self.operation = operation
        self.comparison = comparison
        self.variant = variant
        self.fieldIndex = fieldIndex
    }

    /// - Returns: `nil` for invalid bits.
    init?(_ bits: UInt32) {
        guard let operation = QueryShape.Operation(rawValue: bits & 0xff), let variant = QueryShape.Variant(rawValue: bits >> 12 & 0xf)
        else {
            return nil
        }
        self.init(operation, fieldIndex: Int(bits >> 16) - 1, comparison: Int(bits >> 8 & 0xf), variant: variant)
    }

    var bits: UInt32 {
        operation.rawValue | UInt32(truncatingIfNeeded: comparison) << 8 | variant.rawValue << 12 | UInt32(
            truncatingIfNeeded: fieldIndex + 1)
            << 16
    }
}
