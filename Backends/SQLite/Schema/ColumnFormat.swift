import PolyStoreBackend

/// The properties of a column that the row-copying loops need.
struct ColumnFormat {
    let physical: PhysicalType
    let isOptional: Bool
    let isUUID: Bool
    let isUnsigned: Bool
    let lowest: Int64
    let highest: Int64

    init(_ field: Field) {
        physical = field.type.physical
        isOptional = field.isOptional
        isUUID = field.type == .uuid
        isUnsigned = field.type == .uint64
        let bounds = field.type.integerBounds ?? Int64.min...Int64.max
        lowest = bounds.lowerBound
        highest = bounds.upperBound
    }
}
