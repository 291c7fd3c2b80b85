public import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreConditions
public import PolyStoreKernel

/// To-many relationships.
extension Column where V: Collection, V.Element: Model {
    /// Selects objects for which at least one related object satisfies a condition: `$0.friends.any { $0.age > 18 }`.
    ///
    /// The condition can use the columns of the closures around it.
    public func any(@ConditionBuilder _ condition: (Columns<V.Element>) -> ColumnCondition) -> ColumnCondition {
        counted(condition) { .comparison(Comparison($0, .greater, 0.operand)) }
    }

    /// Selects objects for which every related object satisfies a condition. Includes objects without related objects.
    public func all(@ConditionBuilder _ condition: (Columns<V.Element>) -> ColumnCondition) -> ColumnCondition {
        counted(condition) { .comparison(Comparison($0, .equal, try number.operand)) }
    }

    /// Selects objects for which no related object satisfies a condition.
    public func none(@ConditionBuilder _ condition: (Columns<V.Element>) -> ColumnCondition) -> ColumnCondition {
        counted(condition) { .comparison(Comparison($0, .equal, 0.operand)) }
    }

    /// The number of related objects: `$0.friends.count > 3`.
    public var count: Column<Int> { Column<Int>(_$value: number) }

    /// The number of related objects that satisfy a condition: `$0.friends.count { $0.age > 18 } > 3`.
    public func count(@ConditionBuilder _ condition: (Columns<V.Element>) -> ColumnCondition) -> Column<Int> {
        do { return Column<Int>(_$value: .operand(try satisfying(condition))) } catch {
            return Column<Int>(_$value: .failure(error as? StoreError ?? StoreError(.invalidPredicate, "\(error)")))
        }
    }

    /// Selects objects without related objects.
    public var isEmpty: ColumnCondition { count == 0 }

    /// Selects objects that are related to an object: `$0.friends.contains(jane)`.
    public func contains(_ object: V.Element) -> ColumnCondition { contains(object.objectID) }
    public func contains(_ id: ObjectID<V.Element>) -> ColumnCondition {
        ColumnCondition { .comparison(Comparison(try _$value.operand, .equal, id.operand, modifier: .any)) }
    }

    private var number: ColumnValue {
        do {
            let path = try relationship
            return .operand(.path(PropertyPath(path.keys + ["@count"], variable: path.variable)))
        } catch { return .failure(error as? StoreError ?? StoreError(.invalidPredicate, "\(error)")) }
    }

    private var relationship: PropertyPath {
        get throws {
            guard let path = try _$value.path else {
                throw StoreError(.invalidPredicate, "A closure of columns counts the objects of a value that is no relationship.")
            }
            return path
        }
    }

    private func counted(_ condition: (Columns<V.Element>) -> ColumnCondition, _ make: (Operand) throws -> Condition) -> ColumnCondition {
        ColumnCondition { try make(try satisfying(condition)) }
    }

    /// Returns the number of related objects that satisfy a condition.
    private func satisfying(_ condition: (Columns<V.Element>) -> ColumnCondition) throws -> Operand {
        let path = try relationship
        let (variable, inner) = ColumnScope.enter { variable in condition(Columns(variable: variable)) }
        if let error = inner.error { throw error }
        return .subquery(path, variable: variable, inner.condition.byNames)
    }
}

/// The values of a property of all related objects: `$0.friends.age`. They are aggregated: `$0.friends.age.average > 30`.
public struct RelatedColumn<V> {
    private let value: ColumnValue

    fileprivate init(_ value: ColumnValue) { self.value = value }

    /// Returns an aggregate, whose operator precedes the last key.
    fileprivate func aggregate<R>(_ operation: String) -> Column<R> {
        Column<R>(
            _$value: .computed([value]) {
                guard case .path(let path) = $0[0], let key = path.keys.last else { return $0[0] }
                return .path(PropertyPath(path.keys.dropLast() + [operation, key], variable: path.variable))
            })
    }
}

extension Column where V: Collection, V.Element: Model {
    /// Returns the values of a property of the related objects.
    public subscript<W>(dynamicMember path: KeyPath<V.Element, W>) -> RelatedColumn<W> {
        RelatedColumn<W>(_$value.following(path, V.Element.self))
    }
}

extension RelatedColumn where V: AttributeValue & Numeric {
    /// The sum; 0 without related objects.
    public var sum: Column<V> { aggregate("@sum") }
    /// The arithmetic mean; null without related objects.
    public var average: Column<Double?> { aggregate("@avg") }
}

extension RelatedColumn where V: AttributeValue {
    /// The least value; null without related objects.
    public var minimum: Column<V?> { aggregate("@min") }
    /// The greatest value; null without related objects.
    public var maximum: Column<V?> { aggregate("@max") }
}

extension RelatedColumn where V: ColumnOptional, V.Wrapped: AttributeValue & Numeric {
    public var sum: Column<V.Wrapped> { aggregate("@sum") }
    public var average: Column<Double?> { aggregate("@avg") }
}

extension RelatedColumn where V: ColumnOptional, V.Wrapped: AttributeValue {
    public var minimum: Column<V.Wrapped?> { aggregate("@min") }
    public var maximum: Column<V.Wrapped?> { aggregate("@max") }
}

/// Ordered to-many relationships.
extension Column {
    /// The related object at a position, from 0: `$0.errands[0].title == "plan"`.
    public subscript<D: Model>(position: Int) -> Column<D?> where V == [D] {
        guard position >= 0 else {
            return Column<D?>(
                _$value: .failure(StoreError(.invalidPredicate, "A closure of columns asks for the object at the position \(position).")))
        }
        return at("[\(position)]")
    }
    /// The first related object: `$0.errands.first.title == "plan"`.
    public func first<D: Model>() -> Column<D?> where V == [D] { at("[FIRST]") }
    /// The last related object.
    public func last<D: Model>() -> Column<D?> where V == [D] { at("[LAST]") }

    private func at<D: Model>(_ key: String) -> Column<D?> {
        Column<D?>(
            _$value: .computed([_$value]) {
                guard case .path(let path) = $0[0] else { return $0[0] }
                return .path(PropertyPath(path.keys + [key], variable: path.variable))
            })
    }
}

/// The closures on related objects that are being run.
enum ColumnScope {
    /// The number of closures around the current one.
    @TaskLocal private static var depth = 0

    /// Runs a closure with a variable that no closure around it uses.
    static func enter(_ body: (String) -> ColumnCondition) -> (variable: String, ColumnCondition) {
        let depth = depth + 1
        let variable = "related\(depth)"
        return (variable, $depth.withValue(depth) { body(variable) })
    }
}
