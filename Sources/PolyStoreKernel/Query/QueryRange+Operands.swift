import PolyStoreAttributes
import PolyStoreConditions

extension QueryRange {
    /// Returns the bounds if they have the given type.
    package func bounds<V>(of type: V.Type) -> QueryBounds<V>? { queryBounds as? QueryBounds<V> }

    /// The bounds as operands; nil if the type of the bounds is not supported in conditions.
    package var operands: (low: Operand?, high: Operand?, includesHigh: Bool)? {
        let bounds = queryBounds
        let low = (bounds.low as? any QueryArgument)?.operand
        let high = (bounds.high as? any QueryArgument)?.operand
        guard (low == nil) == (bounds.low == nil), (high == nil) == (bounds.high == nil) else { return nil }
        return (low, high, bounds.includesHigh)
    }
}
