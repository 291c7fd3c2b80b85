import PolyStoreBackend

/// A class whose objects are persisted in a store. `@Model` generates the conformance; it can also be written by hand.
///
/// The requirements are the interface between the generated code and the object layer. Their names begin with `_$` to avoid conflicts with
/// a model's own properties. Indexes: `field` counts attributes and to-one relationships together, `relationship` counts
/// relationships, both in the order of `_$entity`.
public protocol Model: AnyObject, Hashable, SendableMetatype, QueryArgument, Encodable, CustomStringConvertible,
    CustomDebugStringConvertible, CustomReflectable
{
    /// The connection of the object to its context. Stored and set by both initializers; do not modify it.
    @_borrowed var _$state: ModelState { get set }
    /// Creates a new object with default values.
    init(_$state: consuming ModelState)
    /// Creates an object with the values of a record.
    init(_$state: consuming ModelState, decoding record: RecordView) throws
    /// Replaces the values with those of a record.
    func _$load(_ record: RecordView) throws
    /// Writes every field, in ascending order.
    func _$encode(into builder: inout RecordBuilder) throws
    /// Returns the stored value of a to-one relationship.
    func _$toOne(_ relationship: Int) -> ToOne
    /// Sets the stored value of a to-one relationship without side effects.
    func _$setToOne(_ relationship: Int, _ target: ToOne)

    /// Validates the object as a whole, in addition to the rules of its attributes. Called for each new and each changed object when its transaction is
    /// committed; changes only to to-many relationships do not count.
    ///
    ///     func validate() throws {
    ///         if end < start { throw ValidationError("is before the start", attribute: "end") }
    ///     }
    ///
    /// In a hierarchy the root class declares the method, and subclasses override it and call `super`; `@Model` generates an empty one if there is none.
    ///
    /// The method must not modify anything: the commit then throws `misuse`, which names this object and the modified one. An error that it throws is reported as a violation together with all others. The default accepts every object.
    func validate() throws
    /// Validates a deleted object with its last values. Relationships that the deletion clears are already cleared. Like ``validate()``, the method must not
    /// modify anything.
    func validateForDelete() throws

    /// The stored name of the entity.
    static var _$entityName: String { get }
    /// The declaration of the class itself, without inherited properties.
    static var _$entity: EntityDescription { get }
    /// The stored names by key path, including inherited properties.
    static var _$properties: ModelProperties { get }
    /// Returns the stored name of a property without creating the description. The default is the name of the property.
    static func _$storedName(_ property: String) -> String
    /// The hierarchy of the class, shared by all of its classes. The default is `nil`.
    static var _$hierarchy: ModelHierarchy? { get }
    /// The position of the class in its hierarchy.
    static var _$inheritance: ModelInheritance { get }
}

extension Model {
    /// Returns whether two references are to the same object. A context has one object per id.
    @inlinable public static func == (left: Self, right: Self) -> Bool { left === right }
    @inlinable
    public func hash(into hasher: inout Hasher) {
        _$noteHash()
        hasher.combine(ObjectIdentifier(self))
    }

    /// Records that a set has hashed the object. This detects the changes to a set that is mutated in place.
    @inlinable
    func _$noteHash() {
        _$state.unretainedMap._withUnsafeGuaranteedRef { map in if map.isRecording { map.record(_$state.rowID) } }
    }

    /// The hash for `Set` and `Dictionary`. Object addresses are not under an attacker's control, so mixing the bits (with the finalizer of
    /// SplitMix64) is sufficient and avoids the cost of SipHash, because every to-many relationship returns a set of objects.
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
    /// The entity of the class in a store; for a class of a hierarchy the combined entity.
    package static var storedEntity: EntityDescription { _$hierarchy?.entity ?? _$entity }
    /// The name of the entity in a store.
    static var storedEntityName: String { _$hierarchy?.entity.name ?? _$entityName }
}
