/// The changes of one transaction to one store: an arena of encoded records, and the operations on them.
///
/// Row ids are final, delete rules are already applied, and both ends of a relationship are consistent: a backend only writes.
/// Each object appears at most once.
public final class ChangeSet {
    /// The operation on an object.
    public enum Kind: UInt8, Sendable, Hashable {
        /// A new object with all its fields.
        case insert
        /// New values for some fields of an existing object.
        case update
        /// The removal of an existing object.
        case delete
    }

    /// A change of an object.
    public struct Change: Sendable {
        /// The operation.
        public let kind: Kind
        /// The ``Entity/index`` of the object's entity.
        public let entity: Int
        /// The row id of the object.
        public let rowID: Int64
        /// For an update: the fields to write. The other fields of the record are ignored.
        public let mask: FieldMask
        let offset: Int
        let count: Int
    }

    /// A pair of a ``LinkTable`` to add or to remove. Adding an existing pair only changes its positions;
    /// removing an absent pair has no effect.
    ///
    /// Several changes of a pair in one change set are applied in order: a pair that is removed and added again is a new pair.
    public struct LinkChange: Sendable, Hashable {
        /// The ``LinkTable/index`` of the table.
        public let table: Int
        /// The row id of the source.
        public let source: Int64
        /// The row id of the target.
        public let target: Int64
        /// A Boolean value that indicates whether the pair is added instead of removed.
        public let isAddition: Bool
        /// The position of the target among the source's targets, in a table with ``LinkTable/ordersTargets``; ignored in other tables. `nil` keeps the
        /// position of an existing pair and is 0 for a new pair.
        public let targetPosition: Int64?
        /// The position of the source among the target's sources, in a table with ``LinkTable/ordersSources``.
        public let sourcePosition: Int64?

        /// Creates a change of a pair.
        public init(
            table: Int, source: Int64, target: Int64, isAddition: Bool, targetPosition: Int64? = nil, sourcePosition: Int64? = nil
        ) {
            self.table = table
            self.source = source
            self.target = target
            self.isAddition = isAddition
            self.targetPosition = targetPosition
            self.sourcePosition = sourcePosition
        }
    }

    /// A named value to set or to remove; see ``NamedValue``.
    public struct ValueChange: Sendable {
        /// The name of the value.
        public let name: String
        /// The new value; `nil` removes the value. Removing an absent value has no effect.
        public let bytes: [UInt8]?

        /// - Throws: `invalidValue` for a name or a value whose length is outside the limits of ``NamedValue``.
        public init(_ bytes: [UInt8]?, named name: String) throws {
            try NamedValue.check(name: name)
            if let bytes { try NamedValue.check(bytes, named: name) }
            self.name = name
            self.bytes = bytes
        }
    }

    /// The schema that entity and field indexes refer to.
    public let schema: ResolvedSchema
    // A change set is used by one thread at a time, and no access overlaps another. Other modules read it through inlined getters, because the attribute does
    // not apply to their direct accesses to a stored property.
    @exclusivity(unchecked) @usableFromInline var objectChanges: [Change] = []
    @exclusivity(unchecked) @usableFromInline var linkChanges: [LinkChange] = []
    @exclusivity(unchecked) @usableFromInline var valueChanges: [ValueChange] = []
    @exclusivity(unchecked) @usableFromInline var requirements: [RequiredObject] = []
    @exclusivity(unchecked) @usableFromInline var newLogEntries: [[UInt8]] = []
    @exclusivity(unchecked) @usableFromInline var removedLogPosition: Int64?

    /// The changes of objects, in the order in which they were added.
    @inlinable public var changes: [Change] { objectChanges }
    /// The changes of link tables, in the order in which they were added.
    @inlinable public var links: [LinkChange] { linkChanges }
    /// The changes of named values, one per name, in the order in which the names were first set.
    @inlinable public var values: [ValueChange] { valueChanges }
    /// The objects that must exist when the change set has been applied. Empty for a backend without ``Capabilities/Feature/requiredObjects``.
    @inlinable public var requiredObjects: [RequiredObject] { requirements }
    /// The entries to append to the store's change log, in order; see ``LogEntry``.
    @inlinable public var logEntries: [[UInt8]] { newLogEntries }
    /// The position up to which entries of earlier change sets are removed from the change log; `nil` for none.
    @inlinable public var logRemoval: Int64? { removedLogPosition }
    /// Indexes in `values` by the bytes of the names, because equal strings can differ in bytes.
    private var valuePositions: [[UInt8]: Int] = [:]
    private let arena: RecordArena
    @exclusivity(unchecked) private var builder: RecordBuilder

    /// Creates an empty change set.
    /// - Parameters:
    ///   - schema: The schema of the store.
    ///   - capacity: The initial capacity for records, in bytes.
    public init(_ schema: ResolvedSchema, capacity: Int = 4096) {
        self.schema = schema
        arena = RecordArena(capacity: capacity)
        builder = RecordBuilder(arena)
    }

    /// A Boolean value that indicates whether the change set contains no change and requires no object.
    public var isEmpty: Bool { changes.isEmpty && links.isEmpty && values.isEmpty && !changesLog && requiredObjects.isEmpty }

    /// A Boolean value that indicates whether entries of the change log are appended or removed.
    public var changesLog: Bool { !logEntries.isEmpty || logRemoval != nil }

    /// The total size of records, named values and log entries, in bytes.
    public var byteCount: Int {
        values.reduce(arena.count) { $0 + $1.name.utf8.count + ($1.bytes?.count ?? 0) } + logEntries.reduce(0) { $0 + $1.count }
    }

    /// Reserves capacity for a number of further changes.
    public func reserve(_ count: Int) { objectChanges.reserveCapacity(objectChanges.count + count) }

    /// Inserts an object. `encode` sets the fields.
    public func insert(_ entity: Entity, rowID: Int64, _ encode: (inout RecordBuilder) throws -> Void) throws {
        try add(.insert, entity, rowID, FieldMask(), encode)
    }

    /// Updates the fields in `mask` of an existing object. `encode` sets at least these fields; it may omit null ones.
    public func update(_ entity: Entity, rowID: Int64, mask: FieldMask, _ encode: (inout RecordBuilder) throws -> Void) throws {
        try add(.update, entity, rowID, mask, encode)
    }

    /// Deletes an existing object. Its links are removed by separate changes.
    public func delete(_ entity: Entity, rowID: Int64) {
        objectChanges.append(Change(kind: .delete, entity: entity.index, rowID: rowID, mask: FieldMask(), offset: 0, count: 0))
    }

    /// Adds or removes a pair of a link table.
    public func link(_ change: LinkChange) { linkChanges.append(change) }

    /// Requires that an object exists when the change set has been applied.
    public func require(_ object: RequiredObject) { requirements.append(object) }

    /// Sets or removes a named value of the store. The last call for a name takes effect.
    /// - Parameters:
    ///   - bytes: At most ``NamedValue/longestValue`` bytes; `nil` removes the value.
    ///   - name: 1 to ``NamedValue/longestName`` bytes of UTF-8. Names that begin with ``NamedValue/reservedPrefix`` are reserved for the framework.
    /// - Throws: `invalidValue` if the length of the name or the value is out of bounds.
    public func setValue(_ bytes: [UInt8]?, named name: String) throws {
        let change = try ValueChange(bytes, named: name)
        let key = Array(name.utf8)
        if let position = valuePositions[key] {
            valueChanges[position] = change
        } else {
            valuePositions[key] = valueChanges.count
            valueChanges.append(change)
        }
    }

    /// Appends an entry to the store's change log, after the entries of earlier commits and of earlier change sets of the transaction.
    /// - Parameter bytes: Any bytes; a backend does not interpret them.
    public func appendLogEntry(_ bytes: [UInt8]) { newLogEntries.append(bytes) }

    /// Removes the entries of the change log up to a position. Entries that this change set appends are kept in any case.
    /// - Parameter position: A ``LogEntry/position``. If the method is called several times, the greatest position takes effect.
    public func removeLogEntries(through position: Int64) { removedLogPosition = max(position, removedLogPosition ?? position) }

    private func add(_ kind: Kind, _ entity: Entity, _ rowID: Int64, _ mask: FieldMask, _ encode: (inout RecordBuilder) throws -> Void)
        throws
    {
        builder.begin(entity.layout)
        try encode(&builder)
        let encoded = try builder.finish()
        objectChanges.append(
            Change(kind: kind, entity: entity.index, rowID: rowID, mask: mask, offset: encoded.offset, count: encoded.count))
    }

    /// Returns the record of an insert or update. Valid until the change set grows or is deallocated.
    public func record(_ change: Change) -> RecordView { arena.view(change.offset, change.count, schema.entities[change.entity].layout) }
}
