/// Compares records by sort keys, with the object's id as the last word.
public struct RecordOrder {
    public let keys: [SortKey]

    public init(_ keys: [SortKey]) { self.keys = keys }

    /// Negative, 0 or positive; 0 only for the same id.
    public func compare(_ leftID: Int64, _ left: RecordView, _ rightID: Int64, _ right: RecordView) -> Int {
        for key in keys {
            let order = compare(key, leftID, left, rightID, right)
            if order != 0 { return order }
        }
        return Order.of(leftID, rightID)
    }

    private func compare(_ key: SortKey, _ leftID: Int64, _ left: RecordView, _ rightID: Int64, _ right: RecordView) -> Int {
        let field = key.field.ordinal
        let order: Int
        if key.field.isObjectID {
            order = Order.of(leftID, rightID)
        } else {
            switch (left.isNull(field), right.isNull(field)) {
            case (true, true): return 0
            case (true, false): return key.nullsComeFirst ? -1 : 1
            case (false, true): return key.nullsComeFirst ? 1 : -1
            case (false, false): break
            }
            switch key.field.type.physical {
            case .integer:
                let first = left.integer(field)
                let second = right.integer(field)
                order = key.field.isUnsigned ? Order.of(UInt64(bitPattern: first), UInt64(bitPattern: second)) : Order.of(first, second)
            case .real: order = Order.of(left.real(field), right.real(field))
            case .text, .blob: order = Order.of(left.bytes(field), right.bytes(field))
            }
        }
        return key.ascending ? order : -order
    }
}
