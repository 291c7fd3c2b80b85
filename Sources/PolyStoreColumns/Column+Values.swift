public import PolyStoreAttributes
public import PolyStoreBackend
import PolyStoreConditions
public import PolyStoreKernel

// MARK: Lists and ranges

extension ColumnCondition {
    fileprivate init(_ column: ColumnValue, isIn constants: [Value], _ type: AttributeType) {
        if case .field(let field) = column.form {
            self.init(QueryPredicate.oneOf(.field(field), constants), root: column.root)
        } else {
            self.init(column) { .comparison(Comparison($0[0], .oneOf, .list(constants.map { .constant($0, type) }))) }
        }
    }

    fileprivate init<V: AttributeValue>(_ column: ColumnValue, isIn bounds: QueryBounds<V>) {
        func compared(_ comparison: ComparisonOperator, _ bound: V) -> ColumnCondition {
            ColumnCondition(column, comparison, bound.attributeValue, V.attributeType)
        }
        let parts = [
            bounds.low.map { compared(.greaterOrEqual, $0) }, bounds.high.map { compared(bounds.includesHigh ? .lessOrEqual : .less, $0) },
        ]
        self = ColumnCondition.joined(parts.compactMap { $0 })
    }

    fileprivate init<V: AttributeValue>(_ column: ColumnValue, isIn values: some Sequence<V>) {
        // A range that is passed as a sequence can have too many elements to list.
        if let range = values as? any QueryRange, let bounds = range.bounds(of: V.self) {
            self.init(column, isIn: bounds)
        } else {
            self.init(column, isIn: values.map(\.attributeValue), V.attributeType)
        }
    }
}

extension Column {
    /// Selects objects whose column is one of some values: `$0.age.isIn([18, 21])`.
    @_disfavoredOverload
    public func isIn(_ values: some Sequence<V>) -> ColumnCondition where V: AttributeValue { ColumnCondition(_$value, isIn: values) }
    @_disfavoredOverload
    public func isIn<W: AttributeValue>(_ values: some Sequence<W>) -> ColumnCondition where V == W? {
        ColumnCondition(_$value, isIn: values)
    }
    /// Selects objects whose column is one of some cases: `$0.job.isIn([.engineer, .doctor])`.
    @_disfavoredOverload
    public func isIn(_ values: some Sequence<V>) -> ColumnCondition where V: RawRepresentable, V.RawValue: AttributeValue {
        ColumnCondition(_$value, isIn: values.map(\.rawValue))
    }
    @_disfavoredOverload
    public func isIn<W: RawRepresentable>(_ values: some Sequence<W>) -> ColumnCondition where V == W?, W.RawValue: AttributeValue {
        ColumnCondition(_$value, isIn: values.map(\.rawValue))
    }
    /// Selects objects whose column is in a range: `$0.age.isIn(18...65)`, `$0.born.isIn(..<date)`.
    public func isIn<R: QueryRange>(_ range: R) -> ColumnCondition where R.Bound == V, V: AttributeValue {
        ColumnCondition(_$value, isIn: range.queryBounds)
    }
    public func isIn<R: QueryRange>(_ range: R) -> ColumnCondition where V == R.Bound?, R.Bound: AttributeValue {
        ColumnCondition(_$value, isIn: range.queryBounds)
    }
    /// Selects objects whose relationship leads to one of some objects. Objects of other stores are not equal to any destination.
    public func isIn<D: Model>(_ targets: some Sequence<ObjectID<D>>) -> ColumnCondition where V == D? {
        ColumnCondition(_$value) { .comparison(Comparison($0[0], .oneOf, .list(targets.map(\.operand)))) }
    }
    /// Selects the objects with some ids: `$0.objectID.isIn(ids)`.
    public func isIn<D: Model>(_ ids: some Sequence<ObjectID<D>>) -> ColumnCondition where V == ObjectID<D> {
        ColumnCondition(_$value) { .comparison(Comparison($0[0], .oneOf, .list(ids.map(\.operand)))) }
    }
    @_disfavoredOverload
    public func isIn<D: Model>(_ targets: some Sequence<D>) -> ColumnCondition where V == D? { isIn(targets.map(\.objectID)) }
}

// MARK: Text

/// `String` and `String?`, which the conditions on text apply to.
public protocol ColumnText {}
extension String: ColumnText {}
extension Optional: ColumnText where Wrapped == String {}

extension Column where V: ColumnText {
    /// Selects objects whose text contains another: `$0.name.contains("ann", options: .caseInsensitive)`.
    public func contains(_ text: String, options: TextOptions = []) -> ColumnCondition { compared(.contains, text, options) }
    /// Selects objects whose text begins with another. Without options, an index of the attribute is used.
    public func beginsWith(_ text: String, options: TextOptions = []) -> ColumnCondition { compared(.beginsWith, text, options) }
    /// Selects objects whose text ends with another.
    public func endsWith(_ text: String, options: TextOptions = []) -> ColumnCondition { compared(.endsWith, text, options) }
    /// Selects objects whose text matches a pattern: `?` matches one character, `*` any number of them, a backslash escapes the next character.
    public func like(_ pattern: String, options: TextOptions = []) -> ColumnCondition { compared(.like, pattern, options) }
    /// Selects objects whose whole text matches an ICU regular expression.
    public func matches(_ expression: String) -> ColumnCondition { compared(.matches, expression, []) }

    /// Selects objects whose text equals another under some options: `$0.name.equals("jane", options: .caseInsensitive)`.
    public func equals(_ text: String, options: TextOptions) -> ColumnCondition {
        ColumnCondition(_$value) { .comparison(Comparison($0[0], .equal, text.operand, options: options)) }
    }

    private func compared(_ operation: TextOperator, _ text: String, _ options: TextOptions) -> ColumnCondition {
        if case .field(let field) = _$value.form {
            let texts = (QueryExpression.folded(.field(field), options), QueryExpression.folded(.constant(.text(text), .string), options))
            return ColumnCondition(QueryPredicate.text(texts.0, operation, texts.1), root: _$value.root)
        }
        return ColumnCondition(_$value) { .comparison(Comparison($0[0], .text(operation), text.operand, options: options)) }
    }
}
