import Foundation
import PolyStoreAttributes
import PolyStoreBackend

/// Converts values of a query to a type: one of ``QueryResult``, an enum over one, a model class, a `Decodable` type of a JSON attribute, or an optional of these.
package struct ResultDecoder: @unchecked Sendable {  // types hold no state
    private indirect enum Kind {
        case result(any QueryResult.Type)
        /// A type with raw values, and the kind of these.
        case raw(any RawRepresentable.Type, Kind)
        case object(any Model.Type)
        case json(any Decodable.Type)
        /// A type that no column of a selection can have.
        case unsupported

        init(_ type: Any.Type) {
            if let type = type as? any QueryResult.Type {
                self = .result(type)
            } else if let type = type as? any RawRepresentable.Type {
                let raw = Kind.ofRawValue(type)
                self = if case .unsupported = raw { .unsupported } else { .raw(type, raw) }
            } else if let type = type as? any OptionalType.Type {
                self = Kind(type.wrapped)
            } else if let type = type as? any Model.Type {
                self = .object(type)
            } else if let type = type as? any Decodable.Type {
                self = .json(type)
            } else {
                self = .unsupported
            }
        }

        private static func ofRawValue<R: RawRepresentable>(_ type: R.Type) -> Kind { Kind(R.RawValue.self) }

        /// - Returns: nil for a value that does not fit.
        func decode(_ value: QueryValue, _ context: Context?) throws -> Any? {
            func represented<R: RawRepresentable>(_ type: R.Type, _ raw: Any?) -> R? { (raw as? R.RawValue).flatMap(R.init(rawValue:)) }
            func object<M: Model>(_ type: M.Type, _ id: AnyObjectID) throws -> M? {
                try id.cast(to: M.self).flatMap { try context?.fetchExisting($0) }
            }
            switch self {
            case .result(let type): return type.decodeQueryValue(value)
            case .raw(let type, let raw): return represented(type, try raw.decode(value, context))
            case .object(let type): if case .objectID(let id) = value { return try object(type, id) } else { return nil }
            case .json(let type): return try value.string.map { try JSONDecoder().decode(type, from: Data($0.utf8)) }
            case .unsupported: return nil
            }
        }
    }

    private let kind: Kind
    /// A Boolean value that indicates whether the type has a value for null.
    package let isOptional: Bool

    package init<V>(of type: V.Type) {
        isOptional = type is any OptionalType.Type
        kind = Kind(type)
    }

    /// A Boolean value that indicates whether no value of a query can be converted to the type.
    package var isUnsupported: Bool { if case .unsupported = kind { true } else { false } }
    /// A Boolean value that indicates whether the values are those of attributes, or enums.
    package var isScalar: Bool {
        switch kind {
        case .result, .raw: true
        case .object, .json, .unsupported: false
        }
    }
    /// A Boolean value that indicates whether the values are objects.
    package var isObject: Bool { if case .object = kind { true } else { false } }

    /// Converts a value that is not null.
    /// - Parameter context: The context of objects; nil if the type is not a class.
    /// - Returns: nil for a value that does not fit.
    package func decode(_ value: QueryValue, _ context: Context?) throws -> Any? { try kind.decode(value, context) }
}
