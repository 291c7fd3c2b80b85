import PolyStoreBackend
import Synchronization

/// The connection of an object to its context. Stored inline, so that an object needs one allocation.
///
/// Not copyable. When the object is deallocated, on any thread, it removes the object from the identity map of the context.
public struct ModelState: ~Copyable {
    /// Retained by its context, or by the context that has adopted its objects; either lives at least as long as its objects. A strong reference
    /// would cost two atomic operations per object.
    @usableFromInline let unretainedMap: Unmanaged<IdentityMap>
    /// The row id of the object; constant from creation.
    public let rowID: Int64
    @usableFromInline var flags: Flags
    /// The pending changes; only in transactions, from the first change on.
    @usableFromInline package var edit: EditState?

    @usableFromInline
    struct Flags: OptionSet, Sendable {
        @usableFromInline let rawValue: Int32
        @inlinable init(rawValue: Int32) { self.rawValue = rawValue }

        // Computed, because a stored static property of another module requires a call per access.

        /// The values have not been read yet.
        @inlinable static var fault: Flags { Flags(rawValue: 1) }
        @inlinable static var deleted: Flags { Flags(rawValue: 2) }
        /// The context caches a to-many relationship of the object.
        @inlinable static var hasMembers: Flags { Flags(rawValue: 4) }
        /// A fault whose to-one relationships are already known.
        static var linked: Flags { Flags(rawValue: 16) }
        /// The values could not be read: the store did not contain the object, or the read failed.
        static var missing: Flags { Flags(rawValue: 8) }
        /// A fault for an id that has not been looked up.
        static var unverified: Flags { Flags(rawValue: 32) }
        /// An unsafe transaction retains the object until the next commit or rollback.
        @inlinable static var owned: Flags { Flags(rawValue: 64) }
    }

    @inlinable
    init(_ map: IdentityMap, rowID: Int64, flags: Flags = []) {
        unretainedMap = Unmanaged.passUnretained(map)
        self.rowID = rowID
        self.flags = flags
        self.edit = nil
        unretainedMap._withUnsafeGuaranteedRef { $0.willHold() }
    }

    deinit {
        let (rowID, hasMembers) = (rowID, flags.contains(.hasMembers))
        unretainedMap._withUnsafeGuaranteedRef { $0.forget(rowID, hasMembers: hasMembers) }
    }

    /// The context of the object.
    @inlinable public var context: Context { unretainedMap._withUnsafeGuaranteedRef { $0.owner } }
    /// The index of the object's entity in the context's store table.
    @inlinable package var entityIndex: Int32 { unretainedMap._withUnsafeGuaranteedRef { $0.entityIndex } }

    /// A Boolean value that indicates whether an in-place change of a list may concern the object; see ``Context/settleMembers()``.
    @inlinable var isUnsettled: Bool { unretainedMap._withUnsafeGuaranteedRef { $0.isUnsettled } }

    /// A Boolean value that indicates whether the values have not been read yet.
    @inlinable public var isFault: Bool { flags.contains(.fault) }

    /// A Boolean value that indicates whether the values could not be read, because the store did not contain the object or the read failed.
    package var isMissing: Bool { flags.contains(.missing) }

    /// The pending changes, without retaining them.
    @inlinable var unretainedEdit: Unmanaged<EditState>? { edit.map { Unmanaged.passUnretained($0) } }
}
