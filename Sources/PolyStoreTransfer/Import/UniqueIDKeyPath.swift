import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreKernel

/// A path to the attribute or attributes of a unique id: a key path, an ``OptionalUniqueID`` or a ``CompoundUniqueID``.
public protocol UniqueIDKeyPath<UniqueIDValue> {
    /// The type of the unique id.
    associatedtype UniqueIDValue
    /// Returns the functions to read, assign and look up the id.
    /// - Throws: `misuse` if the key path does not refer to a stored property that can hold a unique id.
    func _$access() throws -> UniqueIDAccess<UniqueIDValue>
}

/// The functions to read the unique id of an object, assign it, and look it up in a store.
public struct UniqueIDAccess<ID> {
    /// The fields of the id, in order.
    let fields: [FieldReference]
    /// Returns the id in the form that the store compares.
    let key: (ID) -> ImportKey
    /// Returns the id of an object; `nil` if the object is of another class or has no id.
    let read: (any Model) -> ImportKey?
    /// Assigns an id to an object.
    let assign: (ID, any Model) -> Void

    package init(
        fields: [FieldReference], key: @escaping (ID) -> ImportKey, read: @escaping (any Model) -> ImportKey?,
        assign: @escaping (ID, any Model) -> Void
    ) {
        self.fields = fields
        self.key = key
        self.read = read
        self.assign = assign
    }
}

extension KeyPath: UniqueIDKeyPath where Root: Model {
    public typealias UniqueIDValue = Value

    public func _$access() throws -> UniqueIDAccess<Value> {
        let part = try UniqueIDPart(self)
        return UniqueIDAccess(
            fields: [part.field], key: part.key, read: { ($0 as? Root).map { part.key($0[keyPath: part.path]) } },
            assign: { id, object in if let object = object as? Root { object[keyPath: part.path] = id } })
    }
}

/// A unique id in an optional attribute. Objects without a value have no unique id.
///
///     static var uniqueIDKeyPath: OptionalUniqueID<Airport, String> { .init(\.iata) }
public struct OptionalUniqueID<Root: Model, ID>: UniqueIDKeyPath {
    public typealias UniqueIDValue = ID

    private let path: ReferenceWritableKeyPath<Root, ID?>

    /// Creates the unique id from the key path of an optional attribute.
    public init(_ path: ReferenceWritableKeyPath<Root, ID?>) { self.path = path }

    public func _$access() throws -> UniqueIDAccess<ID> {
        let field = try UniqueIDPart<Root, ID>.field(path)
        let key = try UniqueIDPart<Root, ID>.key(path)
        let path = path
        return UniqueIDAccess(
            fields: [field], key: key, read: { ($0 as? Root)?[keyPath: path].map(key) },
            assign: { id, object in if let object = object as? Root { object[keyPath: path] = id } })
    }
}

/// One stored property of a unique id.
struct UniqueIDPart<Root: Model, Part> {
    let path: ReferenceWritableKeyPath<Root, Part>
    let field: FieldReference
    let key: (Part) -> ImportKey

    init(_ path: KeyPath<Root, Part>) throws {
        guard let writable = path as? ReferenceWritableKeyPath<Root, Part> else {
            throw Self.refused(path, "cannot be assigned")
        }
        self.path = writable
        field = try Self.field(path)
        key = try Self.key(path)
    }

    static func field(_ path: PartialKeyPath<Root>) throws -> FieldReference {
        guard let field = Root._$properties.knownField(path) else {
            throw refused(path, "is not a stored attribute or to-one relationship of \(Root._$entityName)")
        }
        return field
    }

    private static func refused(_ path: PartialKeyPath<Root>, _ why: String) -> StoreError {
        StoreError(
            .misuse, "The uniqueIDKeyPath of \(Root._$entityName), \(path), \(why). Name a stored attribute.", entity: Root._$entityName)
    }

    /// Returns a function that converts a value of the property to the store's value.
    static func key(_ path: PartialKeyPath<Root>) throws -> (Part) -> ImportKey {
        if Part.self == String.self, let text = { ImportKey.text($0) } as (String) -> ImportKey as? (Part) -> ImportKey { return text }
        guard let value = try value() else {
            throw refused(path, "has the type \(Part.self), which cannot be a unique id. Attributes and enums with raw values can")
        }
        return { ImportKey(value($0)) }
    }

    private static func value() throws -> ((Part) -> Value)? {
        func attribute<A: AttributeValue>(_ type: A.Type) -> Any { { $0.attributeValue } as (A) -> Value }
        func raw<R: RawRepresentable>(_ type: R.Type) -> Any? {
            func attribute<A: AttributeValue>(_ raw: A.Type) -> Any {
                { ($0.rawValue as? A)?.attributeValue ?? .null } as (R) -> Value
            }
            return (R.RawValue.self as? any AttributeValue.Type).map { attribute($0) }
        }
        func optional<W: UniqueIDOptional>(_ type: W.Type) -> Any? { W.valueOfWrapped }
        if let type = Part.self as? any AttributeValue.Type { return attribute(type) as? (Part) -> Value }
        if let type = Part.self as? any UniqueIDOptional.Type { return optional(type) as? (Part) -> Value }
        if let type = Part.self as? any RawRepresentable.Type { return raw(type) as? (Part) -> Value }
        return nil
    }
}

/// An optional whose type is not an attribute type, such as the object of a to-one relationship or an enum.
private protocol UniqueIDOptional {
    static var valueOfWrapped: Any? { get }
}

extension Optional: UniqueIDOptional {
    static var valueOfWrapped: Any? {
        func object<T: Model>(_ type: T.Type) -> Any {
            { ($0 as? T).map { .integer($0._$state.rowID) } ?? .null } as (Wrapped?) -> Value
        }
        func raw<R: RawRepresentable>(_ type: R.Type) -> Any? {
            func attribute<A: AttributeValue>(_ raw: A.Type) -> Any {
                { (($0 as? R)?.rawValue as? A)?.attributeValue ?? .null } as (Wrapped?) -> Value
            }
            return (R.RawValue.self as? any AttributeValue.Type).map { attribute($0) }
        }
        if let type = Wrapped.self as? any Model.Type { return object(type) }
        if let type = Wrapped.self as? any RawRepresentable.Type { return raw(type) }
        return nil
    }
}
