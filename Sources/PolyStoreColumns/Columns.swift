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
    @usableFromInline let variable: String?

    init(variable: String? = nil) { self.variable = variable }

    /// Returns the column of a property.
    @inlinable
    public subscript<V>(dynamicMember path: KeyPath<T, V>) -> Column<V> { Column(_$value: ColumnValue(path, T.self, variable)) }
}

/// A property of an object, or of an object that to-one relationships lead to: `$0.age`, `$0.department.title`.
///
/// Operators compare a column with a constant or with another column of the same type. A column that a to-one relationship without a destination leads to is null,
/// and a comparison with null is never true, except `== nil`.
@dynamicMemberLookup
public struct Column<V> {
    // Members of a column without a constraint would hide properties of a destination with the same name.
    @usableFromInline package let _$value: ColumnValue

    @inlinable
    package init(_$value value: ColumnValue) { _$value = value }

    /// Returns the column of a property of the object that the relationship leads to.
    public subscript<D: Model, W>(dynamicMember path: KeyPath<D, W>) -> Column<W> where V == D? {
        Column<W>(_$value: _$value.following(path, D.self))
    }
}

/// The value of a column.
@usableFromInline
package struct ColumnValue: Sendable, Hashable {
    package enum Form: Sendable, Hashable {
        /// A stored field of the fetched object, whose index is known.
        case field(FieldReference)
        /// A value by names: a path, an aggregate, a computed value.
        case operand(Operand)
        /// A value that no store can evaluate.
        indirect case failure(StoreError)
    }

    package let form: Form
    /// The class of the fetched object from which the value is read; nil for constants and for values of related objects in a closure on them.
    let root: ObjectIdentifier?
    /// A lower bound of the nesting depth.
    let levels: Int
    /// A Boolean value that indicates whether the value is null where a relationship leads to no object, whatever its type is.
    let isOfRelated: Bool
    /// The name in a row of a selection; nil for the default.
    let alias: String?

    init(_ form: Form, root: ObjectIdentifier?, levels: Int = 1, isOfRelated: Bool = false, alias: String? = nil) {
        self.form = form
        self.root = root
        self.levels = levels
        self.isOfRelated = isOfRelated
        self.alias = alias
    }

    /// Returns the value with a name in the rows of a selection.
    func named(_ alias: String) -> ColumnValue {
        ColumnValue(form, root: root, levels: levels, isOfRelated: isOfRelated, alias: alias)
    }

    /// Creates the value of a property of an object.
    /// - Parameter variable: the variable of the object; nil for the fetched one.
    @usableFromInline
    init<M: Model>(_ path: PartialKeyPath<M>, _ type: M.Type, _ variable: String?) {
        if variable == nil, let field = M._$properties.knownField(path) {
            self.init(.field(field), root: ObjectIdentifier(type))
        } else {
            let form = Self.named(path, type) { .path(PropertyPath([$0], variable: variable)) }
            self.init(form, root: variable == nil ? ObjectIdentifier(type) : nil)
        }
    }

    /// Creates a constant.
    init<V: AttributeValue>(constant: V) { self.init(.operand(.constant(constant.attributeValue, V.attributeType)), root: nil) }

    /// Creates a value that is computed from others, with the failure of a value that has one.
    /// - Parameters:
    ///   - levels: A lower bound of the nesting depth of what the closure adds.
    ///   - root: The class of the fetched object that the closure adds.
    ///   - isOfRelated: Whether the value is null where one of the others is null because a relationship leads to no object.
    init(
        _ values: [ColumnValue], levels: Int = 0, root: ObjectIdentifier? = nil, isOfRelated: Bool = true,
        _ make: ([Operand]) throws -> Operand
    ) {
        let depth = max(values.map(\.levels).max() ?? 0, levels) + 1
        do {
            // A value that is nested too deeply is dropped immediately, because even its release would recurse.
            guard depth <= FetchRequest.maximumDepth else { throw ColumnCondition.tooDeep }
            let root = try Self.root(of: values.map(\.root) + [root])
            let isOfRelated = isOfRelated && values.contains(where: \.isOfRelated)
            self.init(.operand(try make(try values.map { try $0.operand })), root: root, levels: depth, isOfRelated: isOfRelated)
        } catch { self.init(.failure(StoreError(describing: error)), root: nil) }
    }

    /// Returns the class from which several values are read.
    /// - Throws: `invalidPredicate` if they are read from objects of different fetches.
    static func root(of roots: [ObjectIdentifier?]) throws -> ObjectIdentifier? {
        let found = roots.lazy.compactMap { $0 }
        guard let first = found.first else { return nil }
        guard found.allSatisfy({ $0 == first }) else { throw ColumnCondition.foreign }
        return first
    }

    /// Returns the value of a property of the object that this value leads to, or of the objects.
    /// - Parameter isToMany: Whether the value leads to any number of objects.
    func following<M: Model>(_ path: PartialKeyPath<M>, _ type: M.Type, isToMany: Bool = false) -> ColumnValue {
        let form: Form =
            switch form {
            case .field(let field): Self.named(path, type) { .path(PropertyPath([field.name, $0])) }
            case .operand(.path(let base)): Self.named(path, type) { .path(PropertyPath(base.keys + [$0], variable: base.variable)) }
            case .operand, .failure: form
            }
        return ColumnValue(form, root: root, levels: levels, isOfRelated: isOfRelated || !isToMany)
    }

    private static func named<M: Model>(_ path: PartialKeyPath<M>, _ type: M.Type, _ make: (String) -> Operand) -> Form {
        guard let name = M._$properties.knownName(path) ?? (path == \M.objectID ? "objectID" : nil) else {
            return .failure(
                StoreError(
                    .invalidPredicate,
                    "\(M._$properties.description(of: path)) is computed or not stored, so it cannot be a column. Use stored properties, or filter the objects in Swift.",
                    entity: M._$entityName))
        }
        return .operand(make(name))
    }

    /// The value by names.
    /// - Throws: `invalidPredicate` for a value that no store can evaluate.
    package var operand: Operand {
        get throws {
            switch form {
            case .field(let field): return .path(PropertyPath([field.name]))
            case .operand(let operand): return operand
            case .failure(let error): throw error
            }
        }
    }
}
