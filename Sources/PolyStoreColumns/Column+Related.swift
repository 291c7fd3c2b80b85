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
        return .subquery(path, variable: variable, inner.condition)
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
