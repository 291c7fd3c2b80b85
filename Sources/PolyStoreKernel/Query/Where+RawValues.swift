import PolyStoreAttributes
import PolyStoreBackend

// MARK: Enums with raw values, in the order of the raw values

/// Selects objects whose raw value is less than that of a case.
public func < <T: Model, V: RawRepresentable>(path: KeyPath<T, V>, value: V) -> Where<T>
where V.RawValue: AttributeValue & Comparable {
    compare(path, .less, value.rawValue)
}

public func < <T: Model, V: RawRepresentable>(path: KeyPath<T, V?>, value: V) -> Where<T>
where V.RawValue: AttributeValue & Comparable {
    compare(path, .less, value.rawValue)
}

/// Selects objects whose raw value is less than or equal to that of a case.
public func <= <T: Model, V: RawRepresentable>(path: KeyPath<T, V>, value: V) -> Where<T>
where V.RawValue: AttributeValue & Comparable {
    compare(path, .lessOrEqual, value.rawValue)
}

public func <= <T: Model, V: RawRepresentable>(path: KeyPath<T, V?>, value: V) -> Where<T>
where V.RawValue: AttributeValue & Comparable {
    compare(path, .lessOrEqual, value.rawValue)
}

/// Selects objects whose raw value is greater than that of a case.
public func > <T: Model, V: RawRepresentable>(path: KeyPath<T, V>, value: V) -> Where<T>
where V.RawValue: AttributeValue & Comparable {
    compare(path, .greater, value.rawValue)
}

public func > <T: Model, V: RawRepresentable>(path: KeyPath<T, V?>, value: V) -> Where<T>
where V.RawValue: AttributeValue & Comparable {
    compare(path, .greater, value.rawValue)
}

/// Selects objects whose raw value is greater than or equal to that of a case.
public func >= <T: Model, V: RawRepresentable>(path: KeyPath<T, V>, value: V) -> Where<T>
where V.RawValue: AttributeValue & Comparable {
    compare(path, .greaterOrEqual, value.rawValue)
}

public func >= <T: Model, V: RawRepresentable>(path: KeyPath<T, V?>, value: V) -> Where<T>
where V.RawValue: AttributeValue & Comparable {
    compare(path, .greaterOrEqual, value.rawValue)
}

/// Selects objects whose attribute is one of the cases: `[.engineer, .doctor] ~= \.job`.
@_disfavoredOverload
public func ~= <T: Model, V: RawRepresentable, S: Sequence<V>>(values: S, path: KeyPath<T, V>) -> Where<T>
where V.RawValue: AttributeValue {
    isOneRaw(of: values, path)
}

@_disfavoredOverload
public func ~= <T: Model, V: RawRepresentable, S: Sequence<V>>(values: S, path: KeyPath<T, V?>) -> Where<T>
where V.RawValue: AttributeValue {
    isOneRaw(of: values, path)
}

private func isOneRaw<T: Model, V: RawRepresentable, S: Sequence<V>>(of values: S, _ path: PartialKeyPath<T>) -> Where<T>
where V.RawValue: AttributeValue {
    if let range = values as? any QueryRange, let bounds = range.bounds(of: V.self) { return within(bounds.rawValues, path) }
    let constants = values.map { $0.rawValue.attributeValue }
    return Where(path) { .oneOf($0, constants) }
}

/// Selects objects whose raw value is in a range: `Priority.normal... ~= \.priority`.
public func ~= <T: Model, R: QueryRange>(range: R, path: KeyPath<T, R.Bound>) -> Where<T>
where R.Bound: RawRepresentable, R.Bound.RawValue: AttributeValue & Comparable {
    within(range.queryBounds.rawValues, path)
}

public func ~= <T: Model, R: QueryRange>(range: R, path: KeyPath<T, R.Bound?>) -> Where<T>
where R.Bound: RawRepresentable, R.Bound.RawValue: AttributeValue & Comparable {
    within(range.queryBounds.rawValues, path)
}

extension QueryBounds where Bound: RawRepresentable {
    fileprivate var rawValues: QueryBounds<Bound.RawValue> {
        QueryBounds<Bound.RawValue>(low: low?.rawValue, high: high?.rawValue, includesHigh: includesHigh)
    }
}
