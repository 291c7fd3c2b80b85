import PolyStoreBackend

/// What ties an object to its context: inline in the object, so an object is one allocation.
///
/// Not copyable, and it takes the object out of the context's identity map when the object goes.
public struct ModelState: ~Copyable {
    public let context: Context
    /// The object's key in its store; final from creation.
    public let key: Int64
    /// Which of the context's tables the object is in.
    @usableFromInline let slot: Int32
    @usableFromInline var flags: Flags
    /// What was changed; only in transactions, from the first change on.
    @usableFromInline var edit: EditState?

    @usableFromInline
    struct Flags: OptionSet, Sendable {
        @usableFromInline let rawValue: Int32
        @usableFromInline init(rawValue: Int32) { self.rawValue = rawValue }

        /// The values are still to be read.
        @usableFromInline static let fault = Flags(rawValue: 1)
        @usableFromInline static let deleted = Flags(rawValue: 2)
        /// The context keeps a list of a to-many relationship for it.
        static let hasMembers = Flags(rawValue: 4)
        /// The store had no such object when it was read.
        static let missing = Flags(rawValue: 8)
    }

    @usableFromInline
    init(context: Context, key: Int64, slot: Int32, flags: Flags = []) {
        self.context = context
        self.key = key
        self.slot = slot
        self.flags = flags
        self.edit = nil
    }

    deinit { context.forget(slot: slot, key: key, hasMembers: flags.contains(.hasMembers)) }

    @inlinable public var isFault: Bool { flags.contains(.fault) }
}

/// The changes of one object in a transaction.
@usableFromInline
final class EditState {
    @exclusivity(unchecked) @usableFromInline var mask = FieldMask()
    let isInsert: Bool

    init(isInsert: Bool) { self.isInsert = isInsert }
}
