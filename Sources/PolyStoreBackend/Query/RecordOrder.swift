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

/// Computes the sort values or result values of rows from expressions.
public final class SortValues {
    private let nodes: [ExpressionNode]

    /// Creates the values of sort keys.
    /// - Parameter related: looks up the related objects that the keys refer to.
    public init(_ keys: [SortKey], _ related: (any RelatedRecords)?) {
        let lookup = RelatedLookup(related)
        nodes = keys.map { .make($0.expression ?? .field($0.field), lookup) }
    }

    /// Creates the values of expressions.
    /// - Parameter related: looks up the related objects that the expressions refer to.
    public init(_ expressions: [QueryExpression], _ related: (any RelatedRecords)?) {
        let lookup = RelatedLookup(related)
        nodes = expressions.map { .make($0, lookup) }
    }

    /// Returns a value for each key or expression.
    public func values(_ id: Int64, _ record: RecordView) throws -> [Value] { try nodes.map { try $0.value(id, record) } }
}

extension FetchRequest {
    /// A Boolean value that indicates whether a sort key is an expression.
    public var hasComputedKeys: Bool { sortKeys.contains { $0.expression != nil } }

    /// A request for the same rows in any order and without a slice, including the fields that the sort keys refer to.
    public var unsorted: FetchRequest {
        var copy = self
        copy.sortKeys = []
        copy.limit = nil
        copy.offset = 0
        if onlyIDs || fields != nil {
            var needed = onlyIDs ? FieldMask() : fields ?? FieldMask()
            for key in sortKeys { (key.expression ?? .field(key.field)).collectFields(into: &needed) }
            copy.fields = needed
            copy.onlyIDs = false
        }
        return copy
    }
}
