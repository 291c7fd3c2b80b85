/// Everything that one transaction changes in one store: one arena of encoded records, and what to do with them.
///
/// Ids are final, delete rules are already worked out, and both ends of a relationship agree: a backend only writes.
/// Each object appears at most once.
public final class ChangeSet {
    public enum Kind: UInt8, Sendable, Hashable {
        case insert, update, delete
    }

    public struct Change: Sendable {
        public let kind: Kind
        /// ``Entity/index``.
        public let entity: Int
        public let id: Int64
        /// Of an update: the fields to write. The record's other fields mean nothing.
        public let mask: FieldMask
        let offset: Int
        let count: Int
    }

    /// A pair of a ``LinkTable`` to add or to remove. Adding one that is there moves it to the positions that are told and changes nothing else;
    /// removing one that is not there changes nothing.
    ///
    /// Several changes of one pair in a change set act one after another: what was removed and is added again starts anew.
    public struct LinkChange: Sendable, Hashable {
        /// ``LinkTable/index``.
        public let table: Int
        public let source: Int64
        public let target: Int64
        public let isAddition: Bool
        /// Where the target stands among the source's targets, in a table with ``LinkTable/ordersTargets``; elsewhere it means nothing. nil: where
        /// it stands already, and 0 for a new pair.
        public let targetPosition: Int64?
        /// Where the source stands among the target's sources, in a table with ``LinkTable/ordersSources``.
        public let sourcePosition: Int64?

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
        public let name: String
        /// nil removes the value; removing an absent value changes nothing.
        public let bytes: [UInt8]?

        /// - Throws: `invalidValue` for a name or a value whose length is outside the limits of ``NamedValue``.
        public init(_ bytes: [UInt8]?, named name: String) throws {
            try NamedValue.check(name: name)
            if let bytes { try NamedValue.check(bytes, named: name) }
            self.name = name
            self.bytes = bytes
        }
    }

    public let schema: ResolvedSchema
    // A change set is used by one thread at a time, and none of these is handed out in place.
    @exclusivity(unchecked) public private(set) var changes: [Change] = []
    @exclusivity(unchecked) public private(set) var links: [LinkChange] = []
    /// The named values, each name once, in the order in which they were first set.
    @exclusivity(unchecked) public private(set) var values: [ValueChange] = []
    /// What is appended to the store's change log, in order; see ``LogEntry``.
    @exclusivity(unchecked) public private(set) var logEntries: [[UInt8]] = []
    /// The entries of the change log up to this position are removed, of those that were appended by earlier change sets; nil: none.
    @exclusivity(unchecked) public private(set) var logRemoval: Int64?
    /// Positions in `values` by the names' bytes: strings that are equal as text can differ in bytes.
    private var valuePositions: [[UInt8]: Int] = [:]
    private let arena: RecordArena
    @exclusivity(unchecked) private var builder: RecordBuilder

    public init(_ schema: ResolvedSchema, capacity: Int = 4096) {
        self.schema = schema
        arena = RecordArena(capacity: capacity)
        builder = RecordBuilder(arena)
    }

    public var isEmpty: Bool { changes.isEmpty && links.isEmpty && values.isEmpty && !changesLog }

    /// A Boolean value that indicates whether entries of the change log are appended or removed.
    public var changesLog: Bool { !logEntries.isEmpty || logRemoval != nil }

    /// Bytes of all records, named values and log entries.
    public var byteCount: Int {
        values.reduce(arena.count) { $0 + $1.name.utf8.count + ($1.bytes?.count ?? 0) } + logEntries.reduce(0) { $0 + $1.count }
    }

    public func reserve(_ count: Int) { changes.reserveCapacity(changes.count + count) }

    /// Adds a new object. `encode` sets the fields.
    public func insert(_ entity: Entity, id: Int64, _ encode: (inout RecordBuilder) throws -> Void) throws {
        try add(.insert, entity, id, FieldMask(), encode)
    }

    /// Changes the fields in `mask` of an object that exists. `encode` sets at least these; null ones may be left out.
    public func update(_ entity: Entity, id: Int64, mask: FieldMask, _ encode: (inout RecordBuilder) throws -> Void) throws {
        try add(.update, entity, id, mask, encode)
    }

    /// Deletes an object that exists. Its links are told separately.
    public func delete(_ entity: Entity, id: Int64) {
        changes.append(Change(kind: .delete, entity: entity.index, id: id, mask: FieldMask(), offset: 0, count: 0))
    }

    public func link(_ change: LinkChange) { links.append(change) }

    /// Sets a named value of the store, or removes it; the last call for a name counts.
    /// - Parameters:
    ///   - bytes: at most ``NamedValue/longestValue``; nil removes the value.
    ///   - name: 1 to ``NamedValue/longestName`` bytes of UTF-8. Names that begin with ``NamedValue/reservedPrefix`` belong to the framework.
    /// - Throws: `invalidValue` for a name or a value of another length.
    public func setValue(_ bytes: [UInt8]?, named name: String) throws {
        let change = try ValueChange(bytes, named: name)
        let key = Array(name.utf8)
        if let position = valuePositions[key] {
            values[position] = change
        } else {
            valuePositions[key] = values.count
            values.append(change)
        }
    }

    /// Appends an entry to the store's change log: behind every entry of earlier commits and of earlier change sets of the transaction.
    /// - Parameter bytes: of any number and any values; a backend does not interpret them.
    public func appendLogEntry(_ bytes: [UInt8]) { logEntries.append(bytes) }

    /// Removes the entries of the change log up to a position. Entries that this change set appends stay, whatever the position.
    /// - Parameter position: ``LogEntry/position``. Of several calls the greatest position counts.
    public func removeLogEntries(through position: Int64) { logRemoval = max(position, logRemoval ?? position) }

    private func add(_ kind: Kind, _ entity: Entity, _ id: Int64, _ mask: FieldMask, _ encode: (inout RecordBuilder) throws -> Void) throws
    {
        builder.begin(entity.layout)
        try encode(&builder)
        let place = try builder.finish()
        changes.append(Change(kind: kind, entity: entity.index, id: id, mask: mask, offset: place.offset, count: place.count))
    }

    /// The record of an insert or update. Valid until the change set grows or ends.
    public func record(_ change: Change) -> RecordView { arena.view(change.offset, change.count, schema.entities[change.entity].layout) }
}
