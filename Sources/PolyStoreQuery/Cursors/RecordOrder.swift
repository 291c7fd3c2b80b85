import PolyStoreBackend

/// An order of records by sort keys. Ties are broken by the row id.
public struct RecordOrder {
    /// The sort keys.
    public let keys: [SortKey]

    /// Creates an order.
    public init(_ keys: [SortKey]) { self.keys = keys }

    /// Compares two records: negative, 0 or positive; 0 only for equal ids.
    public func compare(_ leftID: Int64, _ left: RecordView, _ rightID: Int64, _ right: RecordView) -> Int {
        for key in keys {
            let order = compare(key, leftID, left, rightID, right)
            if order != 0 { return order }
        }
        return Order.of(leftID, rightID)
    }

    private func compare(_ key: SortKey, _ leftID: Int64, _ left: RecordView, _ rightID: Int64, _ right: RecordView) -> Int {
        let field = key.field.index
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

    /// Compares two rows by their computed values, one for each key.
    public func compare(_ leftID: Int64, _ left: [Value], _ rightID: Int64, _ right: [Value]) -> Int {
        for (index, key) in keys.enumerated() {
            let (first, second) = (left[index], right[index])
            switch (first.isNull, second.isNull) {
            case (true, true): continue
            case (true, false): return key.nullsComeFirst ? -1 : 1
            case (false, true): return key.nullsComeFirst ? 1 : -1
            case (false, false):
                let order = first.order(to: second, unsigned: key.field.isUnsigned)
                if order != 0 { return key.ascending ? order : -order }
            }
        }
        return Order.of(leftID, rightID)
    }
}
