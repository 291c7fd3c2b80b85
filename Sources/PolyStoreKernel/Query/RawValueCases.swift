import PolyStoreAttributes
import PolyStoreBackend

extension StoreEntity {
    /// Returns why a constant is not a valid value of an enumeration attribute; nil if it is valid, and for attributes of other types.
    func unknownCase(_ value: Value, of field: FieldReference) -> String? {
        for type in types {
            guard let raw = type._$properties.rawTypes[field.name] else { continue }
            return Self.unknownCase(value, raw, field, entity)
        }
        return nil
    }

    private static func unknownCase<R: RawRepresentable>(_ value: Value, _ type: R.Type, _ field: FieldReference, _ entity: Entity)
        -> String?
    {
        func isKnown<V: AttributeValue>(_ raw: V.Type) -> Bool {
            guard let decoded: V = try? ValueDecoder(entity).decode(value, field), let rawValue = decoded as? R.RawValue else {
                return false
            }
            return R(rawValue: rawValue) != nil
        }
        guard !value.isNull, let raw = R.RawValue.self as? any AttributeValue.Type, !isKnown(raw) else { return nil }
        return "\(value.literal) is not a raw value of \(R.self), the type of \(entity.name).\(field.name).\(knownCases(type))"
    }

    /// The raw values of a type that lists its cases, for error messages.
    private static func knownCases<R: RawRepresentable>(_ type: R.Type) -> String {
        func values<C: CaseIterable>(_ type: C.Type) -> [String] {
            type.allCases.prefix(10).compactMap { one in
                ((one as? R)?.rawValue as? any QueryArgument)?.operand.description
            }
        }
        guard let listed = type as? any CaseIterable.Type else { return "" }
        return " It has \(values(listed).joined(separator: ", "))\(listed.allCases.count > 10 ? ", …" : "")."
    }
}
