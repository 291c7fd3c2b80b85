public import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreConditions
import PolyStoreKernel

// Properties of a value that is stored as JSON. A property is found in the JSON by its name, which the type must decode as a key.

extension Column where V: Codable {
    /// Returns a property of the value: `$0.address.city`. It is null if the JSON has no value of its type there.
    ///
    /// The fetch throws `invalidPredicate` if the property is computed, or if the type does not decode a key with its name; see ``field(_:as:)``.
    @_disfavoredOverload
    public subscript<W>(dynamicMember path: KeyPath<V, W>) -> Column<W> { Column<W>(_$value: _$value.property(path, of: V.self)) }

    /// Returns the value of a key in the JSON: `$0.address.field("town", as: String.self)`, for a property whose key has another name.
    public func field<W: Codable>(_ key: String, as type: W.Type) -> Column<W?> {
        Column<W?>(_$value: _$value.field(key, of: V.self, as: W.self))
    }
}

extension Column {
    /// Returns a property of an optional value, which is null where the value is: `$0.address.city`.
    @_disfavoredOverload
    public subscript<D: Codable, W>(dynamicMember path: KeyPath<D, W>) -> Column<W?> where V == D? {
        Column<W?>(_$value: _$value.property(path, of: D.self))
    }

    /// Returns an optional property of an optional value.
    @_disfavoredOverload
    public subscript<D: Codable, W>(dynamicMember path: KeyPath<D, W?>) -> Column<W?> where V == D? {
        Column<W?>(_$value: _$value.property(path, of: D.self))
    }
}

extension ColumnValue {
    /// Returns the value of a property of a value that is stored as JSON.
    fileprivate func property<D, W>(_ path: KeyPath<D, W>, of type: D.Type) -> ColumnValue {
        do {
            try checkJSON(type)
            let name = try JSONShape.name(of: path, in: type)
            _ = try JSONShape.key(name, in: type)
            return field(name, of: type, as: W.self)
        } catch { return failed(error) }
    }

    /// Returns the value of a key in JSON.
    fileprivate func field(_ key: String, of container: Any.Type, as type: Any.Type) -> ColumnValue {
        let type = JSONShape.attributeType(of: type)
        do {
            try checkJSON(container)
            let path: PropertyPath
            switch form {
            case .field(let field): path = PropertyPath([field.name, key], type: type)
            case .operand(.path(let base)): path = PropertyPath(base.keys + [key], variable: base.variable, type: type)
            case .operand, .failure: return self
            }
            return ColumnValue(.operand(.path(path)), root: root, levels: levels, isOfRelated: isOfRelated)
        } catch { return failed(error) }
    }

    private func failed(_ error: any Error) -> ColumnValue {
        ColumnValue(.failure(StoreError(describing: error)), root: nil)
    }

    /// Checks that the value is JSON, as far as it is known.
    private func checkJSON(_ type: Any.Type) throws {
        let stored: AttributeType? =
            switch form {
            case .field(let field): field.type
            case .operand(.path(let path)): path.type
            case .operand: .double
            case .failure: nil
            }
        guard let stored, stored != .json else { return }
        throw StoreError(
            .invalidPredicate, "\(type) is stored as a single value, so a query cannot use its properties. Filter the objects in Swift.")
    }
}

/// An array or a set that is stored as JSON, which the conditions on elements apply to, and their optionals.
public protocol ColumnElements {
    /// The type of the elements.
    associatedtype StoredElement
}
extension Array: ColumnElements {
    /// The type of the elements.
    public typealias StoredElement = Element
}
extension Set: ColumnElements {
    /// The type of the elements.
    public typealias StoredElement = Element
}
extension Optional: ColumnElements where Wrapped: ColumnElements {
    /// The type of the elements.
    public typealias StoredElement = Wrapped.StoredElement
}

extension Column where V: ColumnElements {
    /// Selects objects whose array contains a value: `$0.tags.contains("new")`. Unknown if there is no array.
    public func contains(_ element: V.StoredElement) -> ColumnCondition where V.StoredElement: AttributeValue {
        containing(element.attributeValue, V.StoredElement.attributeType)
    }

    /// Selects objects whose array contains a case of an enum.
    public func contains(_ element: V.StoredElement) -> ColumnCondition
    where V.StoredElement: RawRepresentable, V.StoredElement.RawValue: AttributeValue {
        containing(element.rawValue.attributeValue, V.StoredElement.RawValue.attributeType)
    }

    private func containing(_ value: Value, _ type: AttributeType) -> ColumnCondition {
        ColumnCondition(_$value) { .comparison(Comparison($0[0], .text(.contains), value.isNull ? .null : .constant(value, type))) }
    }
}
