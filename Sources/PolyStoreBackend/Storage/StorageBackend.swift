import PolyStoreSearch

/// An open store of a storage engine. A backend implements this protocol; the layers above it are shared by all backends.
///
/// ## What to implement
/// Three types: the backend, its ``ReadTransaction`` and its ``WriteTransaction``, and a subclass of ``RecordCursor`` for scans.
/// Offer a static factory on ``StoreConfiguration``. The interface exchanges records (``RecordView``), requests with
/// resolved fields (``FetchRequest``) and ``ChangeSet``s, but no objects, key paths or closures.
///
/// ## Requirements
/// Each sentence is a case of the conformance suite; run `ConformanceCase.all` on your backend to find the ones that fail.
/// - Opening creates the store if it does not exist, and writes ``StoreMetadata``. Opening rejects a store of another schema, another configuration or a
///   newer format, and a foreign file, with the code that ``StoreMetadata/check(_:supportedFormat:location:acceptsOtherIndexes:)`` gives
///   (`notAStore` for a foreign file), and leaves it unchanged.
/// - A read transaction reads one snapshot for its whole lifetime: all commits up to ``ReadTransaction/version`` and none of the later ones.
/// - A write transaction reads the changes it applied. Other transactions see them only after `commit`; after `rollback` or deallocation they are discarded.
/// - Calls on a transaction after its end throw `closed`; `end` and `rollback` then have no effect.
/// - One write transaction runs at a time. Calls on a transaction come from one thread at a time; those on a write transaction all come from one thread, unless
///   the backend has ``Capabilities/Feature/transferableWriter``.
/// - A write transaction accepts any number of change sets: several transactions of the object layer may be committed as one.
/// - Values are read back unchanged, including NUL and noncharacters in text; −0 and NaN are normalized by ``Value/normalized(_:)``.
/// - Every method may block; the core never calls one on a thread of Swift's cooperative pool.
/// - All errors are ``StoreError``s, with the ``StoreError/Recovery`` that the caller can rely on. Data in the store never causes the process to trap.
/// - An interruption ends a request that examines many rows, and the transaction can be used further. It ends neither a change set nor a commit.
/// - Named values follow the rules of records: a change set is applied to both or neither, a snapshot shows the values of its version, a rollback
///   undoes them, and a reset for another schema removes them. A backend without ``Capabilities/Feature/namedValues`` throws
///   `unsupported` for them and never drops them silently.
/// - The change log follows the same rules: entries are appended and removed atomically with the records of their change set, and their positions
///   ascend in commit order. A backend without ``Capabilities/Feature/changeLog`` throws `unsupported`.
/// - An entity, relationship or change set of a different schema throws `misuse`. Schemas with equal descriptions are the same schema.
public protocol StorageBackend: AnyObject, Sendable {
    /// The features and limits of the backend.
    var capabilities: Capabilities { get }
    /// The description that the store keeps of itself.
    var metadata: StoreMetadata { get }
    /// Begins a read transaction on the latest version.
    /// - Throws: `closed`, `busy`, `io`, `corrupt`.
    func beginRead() throws -> any ReadTransaction
    /// Begins a read transaction on a version within bounds. The default calls ``beginRead()``, which suffices if that always shows the newest commit.
    ///
    /// For servers with replicas. The object layer passes the newest version that it has committed or seen in ``ReadFreshness/notBefore``, so that a reader of a
    /// stack never shows an earlier version than one before. The backend waits for a replica that is behind this version, or uses another replica.
    /// - Throws: `busy` if no snapshot within the bounds can begin now, and the errors of ``beginRead()``.
    func beginRead(_ freshness: ReadFreshness) throws -> any ReadTransaction
    /// Begins a write transaction, after waiting for the current one to end. The client of a server can wait with the first request; see ``WriteTransaction/knownVersion``.
    /// - Throws: `readOnly`, `closed`, `busy` if the wait times out.
    func beginWrite() throws -> any WriteTransaction
    /// The paths of the files that a commit of any process writes to; a process that observes external commits watches these files. Because it opens and closes
    /// them, they must not be files on which the engine holds `fcntl` locks. The default is empty: other processes cannot write to the store, or their commits
    /// are detected only by reading the version.
    var commitFiles: [String] { get }
    /// Begins to announce the commits of other processes and connections; for servers that report them, beside ``commitFiles`` and the version, which is read once a second.
    ///
    /// Called while something observes the commits of a store with the feature ``Capabilities/Feature/multiProcess``. The backend calls the handler from any thread when a commit of
    /// others is visible to a new read transaction; one call may stand for several commits, and one too many does no harm. It calls it until the returned object is
    /// released or the store is closed. The default returns nil: nothing is announced.
    func announceCommits(to handler: @escaping @Sendable () -> Void) -> (any AnyObject & Sendable)?
    /// The sessions that the backend has open for snapshots; `nil`, the default, for a backend that keeps nothing for later snapshots. Does not read the store.
    var readSessions: ReadSessions? { get }
    /// Returns what keeps the store from removing earlier versions of its rows at present, the one with the oldest version first; `nil`, the default, if the backend does not know. May ask a server.
    ///
    /// Transactions of all clients count, also those that this backend has begun. Details that the user of the store may not see are nil.
    /// - Throws: `closed`, `busy`, `io`.
    func snapshotHolders() throws -> [SnapshotHolder]?
    /// Closes the store. Running transactions keep the resources they need or throw `closed`. A second call has no effect.
    func close() throws
    /// Checks the store for damage. The default throws `unsupported`.
    /// - Parameter report: Receives the progress. An error that it throws ends the check.
    /// - Returns: One sentence for each defect; empty for an undamaged store.
    /// - Throws: `unsupported` without the feature `verification`, and errors of `report`.
    func verify(reporting report: MaintenanceReport) throws -> [String]
    /// Begins a migration of the store's schema, after waiting for the current write transaction to end. The default throws `unsupported`.
    ///
    /// - Parameter change: Its source schema is the one that the store was opened for.
    /// - Throws: `unsupported` without the feature `migration`, `readOnly`, `closed`; `busy` while another process migrates the store or writes for too long;
    ///   `misuse` if the source schema is not the store's.
    func beginMigration(_ change: SchemaChange) throws -> any StoreMigration
    /// Writes a copy of the latest version of the store to another path while the store is in use. The default throws `unsupported`.
    ///
    /// The copy has the same store id, schema, named values and change log, and can be opened like any other store.
    /// - Parameters:
    ///   - location: A path with no file or folder, in an existing folder. For a store on a server, a URL that names no store.
    ///   - report: Receives the progress. An error that it throws ends the copy, and nothing of the copy remains.
    /// - Throws: `unsupported` without the feature `copying`, `io` if the path is taken, `full`, and errors of `report`.
    func copy(to location: String, reporting report: MaintenanceReport) throws
    /// Releases unused disk space to the file system, as far as the engine supports that while the store is in use. Writers wait meanwhile. The default throws
    /// `unsupported`.
    /// - Throws: `unsupported` without the feature `compaction`, `readOnly`, `closed`; `busy` while another process uses the store; `full`.
    func compact() throws
}

extension StorageBackend {
    public func beginRead(_ freshness: ReadFreshness) throws -> any ReadTransaction { try beginRead() }
    public func beginMigration(_ change: SchemaChange) throws -> any StoreMigration {
        throw StoreError(
            .unsupported, "This backend cannot migrate its stores. Export the objects, or copy them to a new store of another backend.")
    }
    public func copy(to location: String, reporting report: MaintenanceReport) throws {
        throw StoreError(.unsupported, "This backend cannot copy its stores.")
    }
    /// Copies the store without reporting the progress; see ``copy(to:reporting:)``.
    public func copy(to location: String) throws { try copy(to: location) { _ in } }
    public func compact() throws {
        throw StoreError(
            .unsupported, "This backend cannot compact a store that is in use. Copy the store instead: a copy holds no unused room.")
    }
    public var commitFiles: [String] { [] }
    public func announceCommits(to handler: @escaping @Sendable () -> Void) -> (any AnyObject & Sendable)? { nil }
    public var readSessions: ReadSessions? { nil }
    public func snapshotHolders() throws -> [SnapshotHolder]? { nil }
    public func verify(reporting report: MaintenanceReport) throws -> [String] {
        throw StoreError(.unsupported, "This backend cannot verify its store.")
    }
    /// Checks the store without reporting the progress; see ``verify(reporting:)``.
    public func verify() throws -> [String] { try verify { _ in } }
}

/// A source of related objects. Every ``ReadTransaction`` conforms.
public protocol RelatedRecords: AnyObject {
    /// The interruption of the requests from now on; nil, the initial value, for none.
    ///
    /// A backend that stores it checks it while it executes the requests that examine many rows; see ``Interruption``. The default is always nil: the layers above then
    /// check it between the rows that the backend returns.
    var interruption: Interruption? { get set }
    /// Returns a record, or nil if it does not exist. The record is valid until the next call.
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView?
    /// Returns the targets of a relationship for many sources; see ``ReadTransaction/related(_:of:)``.
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs
}

/// A consistent snapshot of a store. Not Sendable: used by one thread at a time.
public protocol ReadTransaction: RelatedRecords {
    /// The number of the commit that the snapshot shows. It increases with each commit; 0 is a store without commits.
    ///
    /// A backend may read it with the first request of the snapshot and throw the error of that request. If possible, the object layer reads it after the first request. The
    /// number is the same before and after every read, and in a write transaction also after an error. A property that does not throw satisfies the requirement.
    var version: UInt64 { get throws }
    /// Returns a record; `nil` if it does not exist.
    ///
    /// The view is valid until the next call on this transaction.
    /// - Throws: `corrupt` with entity, attribute and row id if the bytes are not a valid record.
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView?
    /// Opens a cursor over the records that a request selects. The engine evaluates as much of the request as it can; the result contains the residual request.
    ///
    /// With ``FetchRequest/onlyIDs`` the records may be empty if the engine evaluates the complete predicate and order. Several cursors may be
    /// open at the same time.
    func scan(_ request: FetchRequest) throws -> Scan
    /// Returns the number of objects that a request selects, including its limit and offset. The default scans.
    func count(_ request: FetchRequest) throws -> Int
    /// Returns the targets of a relationship for many sources in one call. A to-one relationship has one target, or none if it is null. Targets of an ordered
    /// relationship are returned with their positions, in ascending order of positions; others, and those with equal positions, in ascending order of row ids.
    /// Sources that do not exist have no targets.
    ///
    /// The position is the value of the field ``Relationship/positionField`` or that of the link. Null precedes every integer.
    /// - Parameters:
    ///   - relationship: A to-one or to-many relationship of the store's schema, or the opposite direction of one over a link table, ``Relationship/reversed``.
    ///   - sources: Row ids of the relationship's source entity, in any order, without duplicates. Any integers are valid.
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs
    /// Computes the groups of a request as far as the engine can. The result contains the residual request: the condition on groups, their order, the slice.
    ///
    /// The default returns `nil`, and so does a backend for groups, operands and functions that it does not know; the shared executor then computes them
    /// over a scan. ``AggregateRequest/fieldGroups`` indicates whether all of them are fields. Receives valid requests only.
    /// - Throws: `invalidValue` for a sum of integers that does not fit 64 bits.
    func scanGroups(_ request: AggregateRequest) throws -> GroupScan?
    /// Executes a full-text search by the index. The default returns nil: the shared executor then searches the texts of the records.
    ///
    /// A backend also returns nil while it builds the index. A search in a write transaction finds what the transaction applied. The scores are those of `SearchMatch.score`, to the last bit.
    /// - Throws: `corrupt` for an index that cannot be read.
    func search(_ request: SearchRequest) throws -> SearchHits?
    /// Returns the statistics of a full-text search: of all documents of the index, those of the transaction's own changes included. The default returns nil, and so does a backend while it
    /// builds the index: the shared executor then counts in the records.
    func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics?
    /// Returns the plan that `scan` uses for a request. There is a default.
    func plan(_ request: FetchRequest) throws -> QueryPlan
    /// Executes a request and returns its plan, with the number of rows examined and found. There is a default.
    func explain(_ request: FetchRequest) throws -> QueryPlan
    /// Returns the bytes of a named value; `nil` if the store has no value with that name. The default throws `unsupported`.
    /// - Throws: `invalidValue` for an invalid name, `corrupt`, `unsupported` without the feature `namedValues`.
    func value(named name: String) throws -> [UInt8]?
    /// Returns the names of the values that begin with the bytes of a prefix, in ascending order of their UTF-8 bytes. The default throws `unsupported`.
    /// - Parameter prefix: The prefix; an empty prefix selects every name.
    func valueNames(prefix: String) throws -> [String]
    /// Returns the entries of the change log after a position, in ascending order of position. The default throws `unsupported`.
    /// - Parameters:
    ///   - position: The position of an entry, or any other number; 0 or less selects every entry.
    ///   - limit: The maximum number of entries to return, at least 1.
    /// - Throws: `corrupt` for an entry that cannot be read, `unsupported` without the feature `changeLog`.
    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry]
    /// Returns the bounds of the change log. The default throws `unsupported`.
    func logBounds() throws -> LogBounds
    /// Permits the engine to reclaim the space of versions older than this snapshot, if only the time at which the snapshot began prevents that. The snapshot
    /// shows the same version afterwards. Called for snapshots that a context keeps, after older snapshots have ended. The default does nothing.
    /// - Returns: A Boolean value that indicates whether the same call may now affect the other snapshots of the store.
    func renew() -> Bool
    /// Ends the transaction and releases its resources. A second call has no effect.
    func end()
}

extension RelatedRecords {
    public var interruption: Interruption? {
        get { nil }
        set {}
    }
}

extension ReadTransaction {
    public func scanGroups(_ request: AggregateRequest) throws -> GroupScan? { nil }
    public func renew() -> Bool { false }
    public func search(_ request: SearchRequest) throws -> SearchHits? { nil }
    public func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? { nil }
}

/// The result of ``ReadTransaction/related(_:of:)``: the targets of each source, in order.
public struct RelatedIDs: Sendable {
    private var targets: [Int64: [Int64]] = [:]
    /// The positions of the targets, for ordered relationships only.
    private var positions: [Int64: [Int64?]] = [:]

    /// Creates an empty result.
    public init() {}

    /// Adds a target of a source.
    public mutating func add(source: Int64, target: Int64) { targets[source, default: []].append(target) }

    /// Adds a target of a source in an ordered relationship.
    /// - Parameters:
    ///   - source: The row id of the source. Add the targets of one source one after another.
    ///   - target: The row id of the target.
    ///   - position: The position of the target; `nil` is null.
    public mutating func add(source: Int64, target: Int64, position: Int64?) {
        targets[source, default: []].append(target)
        positions[source, default: []].append(position)
    }

    /// Sorts the targets. A backend that did not add them in order calls this once at the end.
    public mutating func sort() {
        for source in targets.keys {
            guard let ids = targets[source] else { continue }
            guard let listPositions = positions[source], listPositions.count == ids.count else {
                targets[source]?.sort()
                continue
            }
            // Null precedes every integer.
            let order = ids.indices.sorted {
                (listPositions[$0] == nil ? 0 : 1, listPositions[$0] ?? 0, ids[$0]) < (
                    listPositions[$1] == nil ? 0 : 1, listPositions[$1] ?? 0, ids[$1]
                )
            }
            targets[source] = order.map { ids[$0] }
            positions[source] = order.map { listPositions[$0] }
        }
    }

    /// The targets of a source, in order; empty if there are none.
    public subscript(source: Int64) -> [Int64] { targets[source] ?? [] }

    /// Returns the positions of the targets of a source, in the order of the targets; empty for an unordered relationship.
    public func positions(of source: Int64) -> [Int64] { (positions[source] ?? []).map { $0 ?? .min } }
}

/// The only transaction that may change a store. It reads its own writes.
public protocol WriteTransaction: ReadTransaction {
    /// The ``ReadTransaction/version`` if it has been read, without a request for it; nil while nothing depends on it.
    ///
    /// The client of a server can begin the transaction with its first request, and waits only then for other writers. Until then it returns nil. Nil after an error means that
    /// nothing of the transaction has taken effect, unless the error has the recovery ``StoreError/Recovery/commitOutcomeUnknown``. The default is the version.
    var knownVersion: UInt64? { get throws }
    /// Reserves row ids from the entity's sequence. They are not reserved again if the transaction commits.
    /// - Returns: The first of `count` consecutive row ids. The first row id of an entity is 1.
    /// - Throws: `misuse` for a count below 1; `full` if fewer row ids remain, in which case none is reserved.
    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64
    /// Applies a change set atomically. If the call throws, no change is applied and the transaction can continue.
    ///
    /// Uniqueness is checked at the end: values that are exchanged between objects within one change set are accepted.
    /// - Throws: `constraint` with entity, attribute and row id for a duplicate value, for null in a field that is not optional, and for an insert of an
    ///   existing row id; ``ChangeSet/refusal(where:)`` with the feature ``Capabilities/Feature/requiredObjects``; `notFound` for an update or a deletion of an object that does not exist; `misuse` for a change set of another schema; `unsupported`
    ///   for named values without the feature `namedValues`, and for log entries without `changeLog`; `full`, `io`.
    func apply(_ changes: ChangeSet) throws
    /// Applies change sets in order, each of them atomically, and commits if every one was applied and a durability is given. A change set with a duplicate value or
    /// another error of its own is not applied; the others are, and the transaction can continue.
    ///
    /// For backends that wait for a server, which need one request for a commit group. The default calls ``apply(_:)`` for each and ``commit(_:)``.
    /// - Parameters:
    ///   - sets: The change sets, at least one.
    ///   - durability: The durability of the commit; nil does not commit.
    /// - Returns: One result for each change set, also after a refused one: nil, or its error with the code `constraint`, `notFound`, `misuse` or `invalidValue`; and the new
    ///   version if the changes are committed.
    /// - Throws: Every other error of ``apply(_:)``, after which the transaction is rolled back, and the errors of ``commit(_:)``.
    func apply(_ sets: [ChangeSet], committing durability: Durability?) throws -> AppliedChangeSets
    /// Commits the applied changes with the requested durability.
    /// - Returns: The new version.
    /// - Throws: An error with the recovery ``StoreError/Recovery/commitOutcomeUnknown`` if the response of a server was lost. After an error that is
    ///   `retryable`, the changes are not in the store, and the object layer runs the transaction again.
    func commit(_ durability: Durability) throws -> UInt64
    /// Returns the outcome of a commit that threw an error with the recovery ``StoreError/Recovery/commitOutcomeUnknown``. Called once or more before `rollback`, which
    /// then releases what the transaction holds, and has no other effect if the changes are committed. The default returns ``CommitOutcome/unknown``.
    ///
    /// A backend of a server requests it over another connection, by a token that it has read in the transaction: the id of the transaction on the server, or a row that
    /// it has written.
    /// - Throws: An error if the store cannot be reached now. The method is then called again, at most five times in all.
    func commitOutcome() throws -> CommitOutcome
    /// Discards the applied changes and ends the transaction.
    func rollback()
}

extension WriteTransaction {
    public var knownVersion: UInt64? { get throws { try version } }
    public func end() { rollback() }
}
