import PolyStoreBackend

/// Computes the sort values or result values of rows from expressions.
public final class SortValues {
    private let nodes: [ExpressionNode]

    /// Creates the values of sort keys.
    /// - Parameters:
    ///   - keys: The sort keys.
    ///   - related: Looks up the related objects that the keys refer to.
    public init(_ keys: [SortKey], _ related: (any RelatedRecords)?) {
        let lookup = RelatedLookup(related)
        nodes = keys.map { .make($0.expression ?? .field($0.field), lookup) }
    }

    /// Creates the values of expressions.
    /// - Parameters:
    ///   - expressions: The expressions, in the order of the values.
    ///   - related: Looks up the related objects that the expressions refer to.
    public init(_ expressions: [QueryExpression], _ related: (any RelatedRecords)?) {
        let lookup = RelatedLookup(related)
        nodes = expressions.map { .make($0, lookup) }
    }

    /// Returns a value for each key or expression.
    public func values(_ id: Int64, _ record: RecordView) throws -> [Value] { try nodes.map { try $0.value(id, record) } }
}
