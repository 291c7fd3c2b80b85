/// A word of a condition: operation, comparison, variant, use of indexes, field.
struct ShapeWord {
    let operation: QueryShape.Operation
    let comparison: Int
    let variant: QueryShape.Variant
    /// The field index; -1 is the id.
    let fieldIndex: Int
    /// A Boolean value that indicates whether no index must serve the condition, because another condition is more selective.
    private(set) var avoidsIndexes = false

    init(_ operation: QueryShape.Operation, fieldIndex: Int = -1, comparison: Int = 0, variant: QueryShape.Variant = .plain) {
        self.operation = operation
        self.comparison = comparison
        self.variant = variant
        self.fieldIndex = fieldIndex
    }

    /// - Returns: `nil` for invalid bits.
    init?(_ bits: UInt32) {
        guard let operation = QueryShape.Operation(rawValue: bits & 0xff), let variant = QueryShape.Variant(rawValue: bits >> 12 & 0x7)
        else {
            return nil
        }
        self.init(operation, fieldIndex: Int(bits >> 16) - 1, comparison: Int(bits >> 8 & 0xf), variant: variant)
        avoidsIndexes = bits & Self.avoidsIndexesBit != 0
    }

    var bits: UInt32 {
        let field = UInt32(truncatingIfNeeded: fieldIndex + 1) << 16
        return operation.rawValue | UInt32(truncatingIfNeeded: comparison) << 8 | variant.rawValue << 12 | field
            | (avoidsIndexes ? Self.avoidsIndexesBit : 0)
    }

    var avoidingIndexes: ShapeWord {
        var word = self
        word.avoidsIndexes = true
        return word
    }

    private static let avoidsIndexesBit: UInt32 = 1 << 15
}
