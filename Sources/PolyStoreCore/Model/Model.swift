import PolyStoreBackend

/// A class whose objects live in a store. `@Model` writes the conformance; it can be written by hand as well.
///
/// The requirements are the generated code's side of the object layer. Their names begin with `_$` to stay out of the way of a
/// model's own properties. Ordinals: `field` counts attributes and to-one relationships together, `relationship` counts
/// relationships, both in the order of ``_$entity``.
public protocol Model: AnyObject, Hashable, SendableMetatype, QueryArgument {
    /// What ties the object to its context. Stored, set by both inits, touched by nobody else.
    @_borrowed var _$state: ModelState { get set }
    /// A new object with its defaults.
    init(_$state: consuming ModelState)
    /// An object with a record's values.
    init(_$state: consuming ModelState, decoding record: RecordView) throws
    /// Takes over a record's values.
    func _$load(_ record: RecordView) throws
    /// Writes every field, in ascending order.
    func _$encode(into builder: inout RecordBuilder) throws
    /// What a to-one relationship holds.
    func _$toOne(_ relationship: Int) -> ToOne
    /// Sets what a to-one relationship holds, and nothing else.
    func _$setToOne(_ relationship: Int, _ target: ToOne)

    /// What a model asks of an object as a whole, beyond the rules of its attributes: called for each new and each changed object when its transaction is
    /// committed. Changes of to-many relationships alone do not count.
    ///
    ///     func validate() throws {
    ///         if end < start { throw ValidationError("is before the start", attribute: "end") }
    ///     }
    ///
    /// In a hierarchy the root has it, so that classes below override it and call `super`; `@Model` writes one that asks nothing where there is none.
    ///
    /// It must not change anything. What it throws is a violation, reported with all others. The default asks nothing.
    func validate() throws
    /// The same for objects that are deleted, with their last values. Relationships that are to be cleared are by then.
    func validateForDelete() throws

    static var _$entityName: String { get }
    /// What the class itself declares; of a class that inherits from another model without what it inherits.
    static var _$entity: EntityDescription { get }
    /// Stored names by key path, inherited ones included.
    static var _$properties: ModelProperties { get }
    /// The stored name of a property, without making the description. The default is the name itself.
    static func _$storedName(_ property: String) -> String
    /// The hierarchy that the class belongs to; the same for all of its classes. The default is none.
    static var _$hierarchy: ModelHierarchy? { get }
    /// The class's place in it.
    static var _$inheritance: ModelInheritance { get }
}

extension Model {
    /// Objects are the same if they are one object: there is one per id and context.
    @inlinable public static func == (left: Self, right: Self) -> Bool { left === right }
    @inlinable
    public func hash(into hasher: inout Hasher) {
        _$noteHash()
        hasher.combine(ObjectIdentifier(self))
    }

    /// Sets ask for the hash of whatever they take in or look for. That tells what was done to one that is changed in place.
    @inlinable
    func _$noteHash() {
        _$state.unretainedMap._withUnsafeGuaranteedRef { map in if map.isNoting { map.note(_$state.key) } }
    }

    /// What `Set` and `Dictionary` ask for. Nobody chooses an object's address to do harm, so that mixing its bits well (the finalizer of
    /// SplitMix64) does, and spares SipHash: sets of objects are what every to-many relationship gives.
    @inlinable
    public func _rawHashValue(seed: Int) -> Int {
        _$noteHash()
        var bits = UInt64(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())) ^ UInt64(truncatingIfNeeded: seed)
        bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int(truncatingIfNeeded: bits ^ (bits >> 31))
    }

    public static func _$storedName(_ property: String) -> String { property }
    public static var _$hierarchy: ModelHierarchy? { nil }
    public static var _$inheritance: ModelInheritance { ModelInheritance() }
}

extension Model {
    /// What a store is told of the class: for one of a hierarchy the entity of all of it.
    static var storedEntity: EntityDescription { _$hierarchy?.entity ?? _$entity }
    /// Its name.
    static var storedEntityName: String { _$hierarchy?.entity.name ?? _$entityName }
}

/// The value of a to-one relationship: the target's id, 0 for none.
public struct ToOne: Sendable, Hashable {
    public var id: Int64

    @inlinable public init(id: Int64) { self.id = id }
    @inlinable public init(_ record: RecordView, _ field: Int) { id = record.isNull(field) ? 0 : record.integer64(field) }
    @inlinable public static var none: ToOne { ToOne(id: 0) }
    @inlinable
    public func encode(into builder: inout RecordBuilder, _ field: Int) { if id != 0 { builder.setInteger(field, id) } }
}

/// The stored names of a model's properties, by key path.
public final class ModelProperties: @unchecked Sendable {  // immutable; key paths of stored properties hold no state
    enum Property {
        case field(FieldReference)
        case relationship(String)
    }

    private let byKeyPath: [AnyKeyPath: Property]
    private let entityName: String
    let fieldsByName: [String: FieldReference]

    /// - Parameter names: of every property, inherited ones included, which need key paths that begin at this very class.
    public init<T: Model>(_ type: T.Type, _ names: [(PartialKeyPath<T>, String)]) {
        entityName = T._$entityName
        var fields: [String: FieldReference] = [:]
        var relationships: Set<String> = []
        for property in T.storedEntity.properties {
            switch property {
            case .attribute(let attribute):
                fields[attribute.name] = FieldReference(ordinal: fields.count, name: attribute.name, type: attribute.type)
            case .relationship(let relationship):
                if !relationship.isToMany {
                    fields[relationship.name] = FieldReference(ordinal: fields.count, name: relationship.name, type: .int64)
                }
                relationships.insert(relationship.name)
            }
        }
        fieldsByName = fields
        byKeyPath = Dictionary(
            names.compactMap { path, name in
                if let field = fields[name] { return (path as AnyKeyPath, .field(field)) }
                return relationships.contains(name) ? (path as AnyKeyPath, .relationship(name)) : nil
            }, uniquingKeysWith: { first, _ in first })
    }

    /// The field of a key path of one step; nil for any other.
    func knownField(_ path: AnyKeyPath) -> FieldReference? { if case .field(let field)? = byKeyPath[path] { field } else { nil } }

    /// Every property with its key path.
    var names: some Sequence<(path: AnyKeyPath, name: String)> {
        byKeyPath.lazy.map { path, property in
            switch property {
            case .field(let field): (path, field.name)
            case .relationship(let name): (path, name)
            }
        }
    }

    /// The stored name of a key path of one step; nil for any other.
    func knownName(_ path: AnyKeyPath) -> String? { knownField(path)?.name ?? knownRelationship(path) }

    /// The name of a to-many relationship.
    func knownRelationship(_ path: AnyKeyPath) -> String? { if case .relationship(let name)? = byKeyPath[path] { name } else { nil } }

    func field(_ path: AnyKeyPath) throws -> FieldReference {
        if let field = knownField(path) { return field }
        throw StoreError(
            .invalidPredicate, "\(path) is no stored attribute or to-one relationship of \(entityName).", entity: entityName)
    }
}
