/// An open store. What a storage engine must do to hold objects; everything above it is shared.
///
/// ## What to implement
/// Three types: the backend, its ``ReadTransaction`` and its ``WriteTransaction``. A fourth, a subclass of ``RecordCursor``, walks.
/// Offer the user a static factory on ``StoreConfiguration``. Everything that crosses is a record (``RecordView``), a request with
/// resolved fields (``FetchRequest``) or a ``ChangeSet``; there is no object, no key path and no closure.
///
/// ## What must hold
/// Each sentence is a case of the conformance suite; run `ConformanceCase.all` on your backend to see which do not hold.
/// - Opening creates the store where there is none, and keeps ``StoreMetadata``. A store of another model, another configuration, a
///   newer format, or a file that is no store is refused with the code that ``StoreMetadata/check(_:supportedFormat:url:)`` gives
///   (`notAStore` for a foreign file), and stays as it was.
/// - A read transaction sees one version: all commits up to ``ReadTransaction/version`` and nothing of later ones, as long as it lasts.
/// - A write transaction sees what it applied. Until `commit` nobody else does; after `rollback`, or when it is dropped, nobody ever does.
/// - What is asked of a transaction after its end is `closed`; `end` and `rollback` do nothing then.
/// - One writer at a time. Calls of one transaction come from one thread at a time; those of a write transaction all from one thread, unless
///   the backend claims ``Capabilities/Feature/transferableWriter``.
/// - A write transaction takes any number of change sets: several transactions of the object layer may be committed as one.
/// - Values come back as they went in, −0 and NaN as ``Value/normalized(_:)`` says, NUL and non-characters in text included.
/// - Every method may block, and is never called on a thread of Swift's cooperative pool by the core.
/// - All errors are ``StoreError``s. Data in the store can never make the process trap.
/// - Named values obey the same rules as records: one change set sets both or neither, a snapshot shows the values of its version, a rollback
///   undoes them, and a reset for another model removes them. A backend without the feature ``Capabilities/Feature/namedValues`` throws
///   `unsupported` for them and never drops them silently.
/// - The change log obeys the same rules: its entries are appended and removed with the records of their change set or not at all, and their positions
///   ascend in the order of the commits. A backend without the feature ``Capabilities/Feature/changeLog`` throws `unsupported`.
/// - An entity, a relationship or a change set of another schema than the store's is `misuse`. Schemas whose descriptions are equal are one.
public protocol StorageBackend: AnyObject, Sendable {
    var capabilities: Capabilities { get }
    var metadata: StoreMetadata { get }
    /// Starts reading at the newest version.
    /// - Throws: `closed`, `busy`, `io`, `corrupt`.
    func beginRead() throws -> any ReadTransaction
    /// Starts writing, and waits while somebody else writes.
    /// - Throws: `readOnly`, `closed`, `busy` if the wait took too long.
    func beginWrite() throws -> any WriteTransaction
    /// Paths of the files to which a commit of any process writes: a process that follows the commits of others watches these. It may open and close them, so
    /// they are none on which the engine holds `fcntl` locks. The default is empty: others cannot write to the store, or their commits are found only by asking
    /// for the version.
    var commitFiles: [String] { get }
    /// Ends the use of the store. Transactions that still run keep what they need or throw `closed`; a second call does nothing.
    func close() throws
    /// Looks for damage.
    /// - Returns: a sentence for each finding; empty for a sound store.
    /// - Throws: `unsupported` without the feature `verification`.
    func verify() throws -> [String]
}

extension StorageBackend {
    public var commitFiles: [String] { [] }
    public func verify() throws -> [String] { throw StoreError(.unsupported, "This backend cannot verify its store.") }
}

/// A consistent view of a store at one version. Not Sendable: used by one thread at a time.
public protocol ReadTransaction: RelatedRecords {
    /// Counts commits: greater after each. 0 is a store without any.
    var version: UInt64 { get }
    /// One record; nil where there is none.
    ///
    /// The view is valid until the next call on this transaction.
    /// - Throws: `corrupt` with entity, attribute and id where the bytes cannot be that record.
    func record(_ entity: Entity, id: Int64) throws -> RecordView?
    /// Walks over what a request selects. Does as much of it as the engine can and says what remains.
    ///
    /// With ``FetchRequest/onlyIDs`` the records may be empty if nothing remains. Several cursors may be open at once.
    func scan(_ request: FetchRequest) throws -> Scan
    /// How many objects a request selects, limit and offset included. There is a default.
    func count(_ request: FetchRequest) throws -> Int
    /// The objects that a to-many relationship leads to, for many sources in one call: of an ordered one in ascending order of their positions
    /// and with these, otherwise, and where positions are equal, in ascending order of their ids.
    ///
    /// The position is the value of the field ``Relationship/positionField`` or that of the link. Null comes before every integer.
    /// - Parameter sources: ids of the relationship's source entity, in any order, each once.
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs
    /// Aggregates over what a predicate selects, the groups in ascending order. There is a default, on the records of a walk.
    /// - Throws: `invalidValue` for a sum of integers that does not fit 64 bits.
    func aggregate(_ request: AggregateRequest) throws -> [AggregateRow]
    /// How `scan` would go about a request. There is a default.
    func plan(_ request: FetchRequest) throws -> QueryPlan
    /// Carries a request out and tells how, with the number of rows looked at and found. There is a default.
    func explain(_ request: FetchRequest) throws -> QueryPlan
    /// The bytes of a named value; nil if the store has no value of that name. The default throws `unsupported`.
    /// - Throws: `invalidValue` for a name that no value can have, `corrupt`, `unsupported` without the feature `namedValues`.
    func value(named name: String) throws -> [UInt8]?
    /// The names of the values that begin with the bytes of a prefix, in ascending order of their UTF-8 bytes. The default throws `unsupported`.
    /// - Parameter prefix: an empty prefix selects every name.
    func valueNames(prefix: String) throws -> [String]
    /// The entries of the change log behind a position, in ascending order of their positions. The default throws `unsupported`.
    /// - Parameters:
    ///   - position: of an entry, or any other number; 0 or less selects every entry.
    ///   - limit: the greatest number of entries to return, 1 or more.
    /// - Throws: `corrupt` for an entry that cannot be read, `unsupported` without the feature `changeLog`.
    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry]
    /// The positions of the entries that the change log holds. The default throws `unsupported`.
    func logBounds() throws -> LogBounds
    /// Ends it and gives back what it holds. A second call does nothing.
    func end()
}

/// The answer to ``ReadTransaction/related(_:of:)``: the targets of each source, in order.
public struct RelatedIDs: Sendable {
    private var targets: [Int64: [Int64]] = [:]
    /// Of ordered relationships only.
    private var positions: [Int64: [Int64?]] = [:]

    public init() {}

    public mutating func add(source: Int64, target: Int64) { targets[source, default: []].append(target) }

    /// For an ordered relationship.
    /// - Parameter position: nil is null.
    public mutating func add(source: Int64, target: Int64, position: Int64?) {
        targets[source, default: []].append(target)
        positions[source, default: []].append(position)
    }

    /// To be called once at the end by a backend that did not add them in order.
    public mutating func sort() {
        for source in targets.keys {
            guard let ids = targets[source] else { continue }
            guard let places = positions[source], places.count == ids.count else {
                targets[source]?.sort()
                continue
            }
            // Nothing comes before everything.
            let order = ids.indices.sorted {
                (places[$0] == nil ? 0 : 1, places[$0] ?? 0, ids[$0]) < (places[$1] == nil ? 0 : 1, places[$1] ?? 0, ids[$1])
            }
            targets[source] = order.map { ids[$0] }
            positions[source] = order.map { places[$0] }
        }
    }

    public subscript(source: Int64) -> [Int64] { targets[source] ?? [] }

    /// The positions of the targets of an ordered relationship, in the same order; empty of one that is not ordered.
    public func positions(of source: Int64) -> [Int64] { (positions[source] ?? []).map { $0 ?? .min } }
}

/// The one transaction that may change a store. Reads its own writes.
public protocol WriteTransaction: ReadTransaction {
    /// Takes ids out of the entity's sequence. They are never given out again if the transaction commits.
    /// - Returns: the first of `count` consecutive ids; the very first is 1.
    /// - Throws: `misuse` for a count below 1; `full` where fewer ids than that are left, and then none is taken.
    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64
    /// Writes a change set: all of it, or, if it throws, none of it; the transaction can go on either way.
    ///
    /// Uniqueness is judged at the end: values that swap owners within one change set pass.
    /// - Throws: `constraint` with entity, attribute and id for a value that is taken, and for null in a field that is not optional;
    ///   `notFound` for an update or a deletion of an object that is not there; `constraint` for an insert of an id that is; `misuse` for a
    ///   change set of another schema; `unsupported` for named values without the feature `namedValues`, and for log entries without `changeLog`; `full`, `io`.
    func apply(_ changes: ChangeSet) throws
    /// Makes everything applied visible, and safe as far as asked.
    /// - Returns: the new version.
    func commit(_ durability: Durability) throws -> UInt64
    /// Undoes everything applied, and ends.
    func rollback()
}

extension WriteTransaction {
    public func end() { rollback() }
}
