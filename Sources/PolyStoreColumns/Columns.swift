import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreConditions
import PolyStoreKernel

/// The properties of an object in the closure of a condition or an order: `From<Person>().where { $0.age > 30 }`.
///
/// A member of the columns is a ``Column`` for the property with that name. Inherited properties are members too. A property that is not stored, such as a computed
/// one, compiles, and the fetch throws `invalidPredicate`.
@dynamicMemberLookup
public struct Columns<T: Model> {
    /// The variable of a closure on related objects; nil for the fetched object.
    private let variable: String?

    init(variable: String? = nil) { self.variable = variable }

    /// Returns the column of a property.
    public subscript<V>(dynamicMember path: KeyPath<T, V>) -> Column<V> { Column(_$value: ColumnValue(path, T.self, variable)) }
}

/// A property of an object, or of an object that to-one relationships lead to: `$0.age`, `$0.department.title`.
///
/// Operators compare a column with a constant or with another column of the same type. A column that a to-one relationship without a destination leads to is null,
/// and a comparison with null is never true, except `== nil`.
@dynamicMemberLookup
public struct Column<V> {
    // Members of a column without a constraint would hide properties of a destination with the same name.
    package let _$value: ColumnValue

    package init(_$value value: ColumnValue) { _$value = value }

    /// Returns the column of a property of the object that the relationship leads to.
    public subscript<D: Model, W>(dynamicMember path: KeyPath<D, W>) -> Column<W> where V == D? {
        Column<W>(_$value: _$value.following(path, D.self))
    }
}

/// What a column stands for.
package enum ColumnValue: Sendable, Hashable {
    /// A stored field of the fetched object, whose index is known.
    case field(FieldReference)
    /// A value by names: a path, the number of related objects.
    case operand(Operand)
    /// A property that is not stored.
    case failure(StoreError)

    /// Creates the value of a property of an object.
    /// - Parameter variable: the variable of the object; nil for the fetched one.
    init<M: Model>(_ path: PartialKeyPath<M>, _ type: M.Type, _ variable: String?) {
        if variable == nil, let field = M._$properties.knownField(path) {
            self = .field(field)
        } else {
            self = Self.named(path, type) { .path(PropertyPath([$0], variable: variable)) }
        }
    }

    /// Returns the value of a property of the object that this value leads to.
    func following<M: Model>(_ path: PartialKeyPath<M>, _ type: M.Type) -> ColumnValue {
        switch self {
        case .field(let field): Self.named(path, type) { .path(PropertyPath([field.name, $0])) }
        case .operand(.path(let base)): Self.named(path, type) { .path(PropertyPath(base.keys + [$0], variable: base.variable)) }
        case .operand, .failure: self
        }
    }

    private static func named<M: Model>(_ path: PartialKeyPath<M>, _ type: M.Type, _ make: (String) -> Operand) -> ColumnValue {
        guard let name = path == \M.objectID ? "objectID" : M._$properties.knownName(path) else {
            return .failure(
                StoreError(
                    .invalidPredicate,
                    "A closure of columns uses a property of \(M._$entityName) that is computed or not stored. Use stored properties, or filter the objects in Swift.",
                    entity: M._$entityName))
        }
        return .operand(make(name))
    }

    /// The value by names.
    /// - Throws: `invalidPredicate` for a property that is not stored.
    package var operand: Operand {
        get throws {
            switch self {
            case .field(let field): return .path(PropertyPath([field.name]))
            case .operand(let operand): return operand
            case .failure(let error): throw error
            }
        }
    }

    /// The path of the value; nil for a computed one.
    /// - Throws: `invalidPredicate` for a property that is not stored.
    var path: PropertyPath? {
        get throws { if case .path(let path) = try operand { path } else { nil } }
    }
}
