import PolyStoreBackend

extension QueryExpression {
    /// Evaluates an expression whose operands are all constants.
    package func valueOfConstants(in entity: Entity) throws -> Value {
        try ExpressionNode.make(self, RelatedLookup(nil)).value(0, RecordView(empty: entity.layout))
    }
}
