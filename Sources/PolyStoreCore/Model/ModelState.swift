import PolyStoreBackend
import Synchronization

/// What ties an object to its context: inline in the object, so an object is one allocation.
///
/// Not copyable, and it takes the object out of the context's identity map when the object goes, on whichever thread that is.
public struct ModelState: ~Copyable {
    /// Kept alive by its context, or by the one that has taken the context's objects over; either lives as long as one of its objects does. A strong reference
    /// would cost each object two atomic operations.
    @usableFromInline let unretainedMap: Unmanaged<IdentityMap>
    /// The object's key in its store; final from creation.
    public let key: Int64
    @usableFromInline var flags: Flags
    /// What was changed; only in transactions, from the first change on.
    @usableFromInline var edit: EditState?

    @usableFromInline
    struct Flags: OptionSet, Sendable {
        @usableFromInline let rawValue: Int32
        @inlinable init(rawValue: Int32) { self.rawValue = rawValue }

        // Computed, as a stored static property of another module is a call at each access.

        /// The values are still to be read.
        @inlinable static var fault: Flags { Flags(rawValue: 1) }
        @inlinable static var deleted: Flags { Flags(rawValue: 2) }
        /// The context keeps a list of a to-many relationship for it.
        @inlinable static var hasMembers: Flags { Flags(rawValue: 4) }
        /// A fault whose to-one relationships are known already.
        static var linked: Flags { Flags(rawValue: 16) }
        /// The store had no such object when it was read.
        static var missing: Flags { Flags(rawValue: 8) }
        /// A fault that was made for an id that nobody has looked up.
        static var unverified: Flags { Flags(rawValue: 32) }
        /// The unsafe transaction of the object holds it until the next commit or rollback.
        @inlinable static var owned: Flags { Flags(rawValue: 64) }
    }

    @inlinable
    init(_ map: IdentityMap, key: Int64, flags: Flags = []) {
        unretainedMap = Unmanaged.passUnretained(map)
        self.key = key
        self.flags = flags
        self.edit = nil
        unretainedMap._withUnsafeGuaranteedRef { $0.willHold() }
    }

    deinit {
        let (key, hasMembers) = (key, flags.contains(.hasMembers))
        unretainedMap._withUnsafeGuaranteedRef { $0.forget(key, hasMembers: hasMembers) }
    }

    @inlinable public var context: Context { unretainedMap._withUnsafeGuaranteedRef { $0.owner } }
    /// Which of the context's tables the object is in.
    @inlinable var slot: Int32 { unretainedMap._withUnsafeGuaranteedRef { $0.slot } }

    @inlinable public var isFault: Bool { flags.contains(.fault) }

    /// The changes, for as long as nothing replaces them.
    @inlinable var unretainedEdit: Unmanaged<EditState>? { edit.map { Unmanaged.passUnretained($0) } }
}

/// The changes of one object in a transaction.
@usableFromInline
final class EditState {
    @exclusivity(unchecked) @usableFromInline var mask = FieldMask()
    @usableFromInline let isInsert: Bool
    /// Whether the transaction has a record of the object that the next change outdates.
    @inlinable var isRecorded: Bool {
        get { recorded.load(ordering: .relaxed) }
        set { recorded.store(newValue, ordering: .relaxed) }
    }
    /// Atomic, as an unsafe transaction may be released by another thread than the one that uses its objects.
    @usableFromInline let recorded = Atomic<Bool>(false)
    /// Where that record is.
    @exclusivity(unchecked) var row: Int32 = -1

    init(isInsert: Bool) { self.isInsert = isInsert }
}
