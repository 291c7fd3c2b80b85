import PolyStoreBackend
import PolyStoreCollections
import PolyStoreQuery
import Synchronization

/// A consistent view of a stack's objects, with one object per id. It is used by one thread or actor at a time.
///
/// There are four kinds: the ``ViewContext``s of the main actor, the ``RefreshableContext``s of any thread, the ``SnapshotContext`` of one read, and
/// ``Transaction``s, which are the only ones that can change objects.
/// Neither contexts nor their objects are Sendable, so the compiler prevents their use on other threads. Pass objects between contexts by
/// ``ObjectID``.
public class Context {
    package final let core: StackCore
    // A context is used by one thread at a time, and none of its methods exposes these properties for in-place mutation.
    @exclusivity(unchecked) @usableFromInline package final var table: StoreTable
    /// The objects.
    @exclusivity(unchecked) @usableFromInline final var graph: ObjectGraph
    /// The source of reads.
    final let source: ReadSource
    /// The pending changes; only in transactions.
    package final let changeBuffer: ChangeBuffer?

    /// The source location that created this context.
    @exclusivity(unchecked) package final var site: CallSite
    /// Observes the requests sent to stores: for ``explaining(_:)``, or the log at `trace`.
    @exclusivity(unchecked) package final var watcher: (any ReadWatcher)?
    /// The interruption of the requests of the context; nil for none. A reader receives it when it is used.
    @exclusivity(unchecked) @usableFromInline final var interruption: Interruption? {
        didSet {
            if oldValue != nil || readsPending, !(changeBuffer?.hasEnded ?? false) { source.interrupt(with: interruption) }
        }
    }
    /// The monitors of the context; nil as long as it has none.
    @exclusivity(unchecked) package final var observers: ContextObservers?
    /// The running iterations in batches that read the snapshots of this context.
    @exclusivity(unchecked) final var iterations: [BatchIteration] = []
    /// The number of reads that are running, one within the other.
    @exclusivity(unchecked) @usableFromInline final var readDepth = 0
    /// A Boolean value that indicates whether the snapshots have sessions that can be given back while no read is running.
    @exclusivity(unchecked) @usableFromInline final var hasSessions = false
    /// A Boolean value that indicates whether observers are being called; see ``reporting(_:)``.
    @exclusivity(unchecked) package final var isReporting = false
    /// The reports that callbacks have requested.
    @exclusivity(unchecked) package final var deferredReports: [() -> Void] = []
    /// Supplies the objects instead of a store; nil in most contexts.
    private let contents: (any ContextContents)?

    init(
        core: StackCore, table: StoreTable, _ site: CallSite, source: ReadSource = .noStore, changeBuffer: ChangeBuffer? = nil,
        contents: (any ContextContents)? = nil, graph: ObjectGraph? = nil
    ) {
        self.core = core
        self.table = table
        self.site = site
        self.contents = contents
        self.graph = graph ?? ObjectGraph(isKeptByObjects: true)
        self.source = source
        self.changeBuffer = changeBuffer
        watcher = QueryLog.make(core.logger, site)
    }

    /// Logs a message with the source location that created this context.
    package final func log(_ level: LogLevel, _ message: @autoclosure () -> String) { core.logger.write(level, site, message()) }

    /// Logs a read of an observer that failed, unless the store was removed meanwhile; see ``StackCore/isCausedByRemoval(_:)``. The next move compares all objects.
    package final func logFailedRead(_ error: any Error, _ message: @autoclosure () -> String) {
        observers?.hasFailed = true
        if !core.isCausedByRemoval(error) { log(.error, "\(message()): \(error)") }
    }

    /// Applies the additions and removals of stores since the context was created.
    final func update(_ table: StoreTable) {
        guard table.generation > self.table.generation else { return }
        self.table = table
        changeBuffer?.didUpdateStores()
    }

    /// Returns whether an object belongs to this context.
    package final func owns(_ object: any Model) -> Bool {
        // An object that keeps its context alive names it. The context of another one can have been released, and its address assigned again.
        object._$state.unretainedMap._withUnsafeGuaranteedRef { $0.keepsContext ? $0.context === self : graph.owns(object) }
    }

    /// Returns the observers of the context. From the first call on, the context collects the changes to notify them.
    @discardableResult
    package final func startObserving() -> ContextObservers {
        let found = observers ?? ContextObservers()
        observers = found
        if case .moving(let snapshots) = source { snapshots.follow(table) }
        return found
    }

    // MARK: Reading

    /// Called before the objects are read: the sessions of the snapshots are kept until ``endReading()``. Moves the context if one was given back and the store has
    /// changed. An error is left to the first request.
    @inlinable @inline(__always)
    package final func beginReading() {
        readDepth &+= 1
        if hasSessions, readDepth == 1 { try? resume() }
    }

    /// Called after a read, once for each ``beginReading()``.
    @inlinable @inline(__always)
    package final func endReading() {
        readDepth &-= 1
        if hasSessions, readDepth == 0 { releaseSessions() }
    }

    @usableFromInline
    final func releaseSessions() { if case .moving(let snapshots) = source { snapshots.releaseSessions() } }

    /// Keeps the sessions of the snapshots. Begins those again that were given back.
    @usableFromInline
    func resume() throws {}

    /// A Boolean value that indicates whether reads include pending changes of a parent transaction.
    package final var readsPending: Bool { source.parent != nil }

    /// A Boolean value that indicates whether the context can move to newer versions, so that its objects can be observed.
    package final var movesToVersions: Bool { source.movesToVersions }

    /// The current stores of the stack; nil if the context cannot adopt new ones because it has already read a snapshot of the others.
    final var newerTable: StoreTable? { source.newerTable(core) }

    /// Returns the read transaction for a store.
    package final func storage(_ store: PersistentStore) throws -> any ReadTransaction {
        let reader = try reader(store)
        return watcher?.watched(reader, of: store) ?? reader
    }

    /// Returns the read transaction for a store, without the observer of requests.
    package final func reader(_ store: PersistentStore) throws -> any ReadTransaction {
        let reader = try source.reader(store, for: self)
        guard let interruption else { return reader }
        return reader.interruptible(by: interruption)
    }

    /// Returns the rows of a request of a property, which cannot throw and is therefore not interrupted.
    final func uninterruptedRows(_ store: PersistentStore, _ request: FetchRequest) throws -> RecordCursor {
        guard interruption != nil else { return try storage(store).fetch(request) }
        let reader = try source.reader(store, for: self)
        guard let parent = source.parent else {
            reader.interruption = nil
            return try (watcher?.watched(reader, of: store) ?? reader).fetch(request)
        }
        // The requests of the parent remain interrupted, so the rows are read now.
        return try parent.interrupted(by: nil) { try MaterializedCursor(copying: reader.fetch(request), layout: request.entity.layout) }
    }

    /// Runs a request within the time limit of its options and that of the context.
    @usableFromInline
    package final func limited<Result>(_ options: FetchOptions, _ body: () throws -> Result) throws -> Result {
        guard let limit = options.timeLimit else { return try body() }
        let inner = Interruption(timeLimit: limit, within: interruption)
        try inner.check()
        return try interrupted(by: inner, body)
    }

    /// Runs work with another interruption, which the parents of a child transaction have meanwhile, too.
    @usableFromInline
    final func interrupted<Result>(by other: Interruption?, _ body: () throws -> Result) rethrows -> Result {
        let before = sequence(first: self) { $0.source.parent }.map { ($0, $0.interruption) }
        interruption = other
        defer { for (context, interruption) in before { context.interruption = interruption } }
        return try body()
    }

    /// Called for a change of an object outside a transaction.
    final func refuseEditing(_ object: any Model) {
        if case .released = source {
            let name = entry(object._$state.entityIndex).entity.name
            return log(.error, "A change of \(object.inWords(as: name)) is lost: its transaction was released.")
        }
        preconditionFailure(
            "\(object._$state.context.entry(object._$state.entityIndex).entity.name) \(object._$state.rowID) was changed outside a transaction; "
                + "change it in `perform`, where `edit(_:)` gives the object to change.")
    }

    /// Returns the pending changes of a to-many relationship.
    final func pendingMembers(_ key: RelationshipKey) -> MemberChanges? { editor?.pendingMembers(key) }

    /// Returns the rows of a request, including pending changes if the context has any.
    package final func rows(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> RecordCursor {
        try editor?.mergedRows(entry, request, options) ?? storage(entry.store).fetch(request)
    }

    /// Returns the rows of a request, unaffected by changes during the iteration.
    final func steadyRows(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> RecordCursor {
        try editor?.mergedRows(entry, request, options, isSteady: true) ?? storage(entry.store).fetch(request)
    }

    final func count(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> Int {
        try editor?.mergedCount(entry, request, options) ?? storage(entry.store).counted(request)
    }

    /// Returns the related objects for predicates on relationships.
    package final func related(_ store: PersistentStore, _ options: FetchOptions) throws -> any RelatedRecords {
        try editor?.relatedRecords(store, options) ?? storage(store)
    }

    /// Registers an iteration whose cursors read the snapshots of this context. Those of a child transaction read the snapshots of its parent.
    final func add(_ iteration: BatchIteration) {
        iterations.append(iteration)
        source.parent?.add(iteration)
    }

    final func remove(_ iteration: BatchIteration) {
        iterations.removeAll { $0 === iteration }
        source.parent?.remove(iteration)
    }

    // MARK: Editing

    /// Changes the objects, and reads them including pending changes; nil in read-only contexts.
    final var editor: Editor? { changeBuffer.map { Editor(context: self, buffer: $0) } }

    /// Called before the first change of an object.
    final func beginEditing(_ object: any Model) -> EditState {
        if let editor { return editor.startEditing(object) }
        refuseEditing(object)
        return EditState(isInsert: false)
    }

    /// Called when a to-one relationship is set.
    final func retarget<T: Model>(_ object: any Model, _ relationship: Int, from old: ToOne, to new: T?) -> ToOne {
        if let editor { return editor.moveToOne(object, relationship, from: old, to: new) }
        refuseEditing(object)
        return old
    }

    final func setMembers<T: Model>(of object: any Model, _ relationship: Int, to members: Set<T>) {
        if let editor { editor.replaceMembers(of: object, relationship, to: members) } else { refuseEditing(object) }
    }

    final func setMembers<T: Model>(of object: any Model, _ relationship: Int, to members: [T]) {
        if let editor { editor.replaceList(of: object, relationship, to: members) } else { refuseEditing(object) }
    }

    /// Lends the members of a to-many relationship for in-place mutation.
    @usableFromInline
    final func beginMutation<T: Model>(_ object: any Model, _ relationship: Int) -> MemberMutation<Set<T>> {
        editor?.beginSetMutation(object, relationship) ?? MemberMutation(object._$members(of: relationship))
    }

    /// Takes the members back and updates the inverse relationships.
    @usableFromInline
    final func endMutation<T: Model>(_ mutation: inout MemberMutation<Set<T>>, _ object: any Model, _ relationship: Int) {
        if let editor { editor.endSetMutation(&mutation, object, relationship) } else { refuseEditing(object) }
    }

    @usableFromInline
    final func beginMutation<T: Model>(_ object: any Model, _ relationship: Int) -> MemberMutation<[T]> {
        editor?.beginListMutation(object, relationship) ?? MemberMutation(object._$members(of: relationship))
    }

    @usableFromInline
    final func endMutation<T: Model>(_ mutation: inout MemberMutation<[T]>, _ object: any Model, _ relationship: Int) {
        if let editor { editor.endListMutation(&mutation, object, relationship) } else { refuseEditing(object) }
    }

    // MARK: Objects

    /// Returns an object that an accessed relationship leads to, if the context reads no store.
    @inline(__always)
    final func suppliedObject<T: Model>(_ type: T.Type, _ map: IdentityMap, _ rowID: Int64) -> T? {
        contents?.makeObject(type, map, rowID)
    }

    @usableFromInline
    final func memberSource(_ key: RelationshipKey, isInserted: Bool) throws -> MemberSource {
        try contents?.members(key, in: self) ?? storedSource(key, isInserted: isInserted)
    }

    package final func entry(_ entityIndex: Int32) -> StoreEntity { table.entries[Int(entityIndex)] }

    /// Returns the map of an entity's registered objects.
    @inlinable @inline(__always)
    final func identityMap(_ entityIndex: Int32) -> IdentityMap { graph.maps[Int(entityIndex)] ?? addMap(entityIndex) }

    @usableFromInline
    final func addMap(_ entityIndex: Int32) -> IdentityMap { graph.addMap(entityIndex, in: self) }

    /// Returns the registered object with a row id, if there is one.
    @inlinable
    package final func registered<T: Model>(_ type: T.Type, _ entityIndex: Int32, _ rowID: Int64) -> T? {
        guard let map = graph.maps[Int(entityIndex)], let object = map.object(rowID) else { return nil }
        if map.isPolymorphic { return object as? T }
        // The map of a single class contains objects of that class only.
        return unsafeDowncast(object, to: type)
    }

    /// Returns the registered object with a row id, or a new fault.
    @inlinable
    package final func object<T: Model>(_ type: T.Type, _ entityIndex: Int32, _ rowID: Int64) -> T {
        if let registered = registered(type, entityIndex, rowID) { return registered }
        let map = identityMap(entityIndex)
        if map.isPolymorphic { return relative(type, map, rowID) }
        if graph.rowsAhead != nil, let object = ahead(type, entityIndex, rowID) { return object }
        let object = T(_$state: ModelState(map, rowID: rowID, flags: .fault))
        map.insert(rowID, object)
        return object
    }

    /// Removes the member lists of objects released since the last call.
    @inlinable
    final func dropForgottenLists(_ entityIndex: Int32) {
        if let map = graph.maps[Int(entityIndex)], map.hasForgotten.load(ordering: .relaxed) { dropLists(map) }
    }

    @usableFromInline
    final func dropLists(_ map: IdentityMap) {
        // The collection of a released object may contain changes that were not applied.
        settleMembers()
        for rowID in map.takeForgotten() { forgetMembers(ofRow: rowID, map.entityIndex) }
    }

    final func forgetMembers(ofRow rowID: Int64, _ entityIndex: Int32) {
        for relationship in entry(entityIndex).entity.relationships where relationship.isToMany {
            forgetMembers(RelationshipKey(entityIndex: entityIndex, relationship: Int32(relationship.index), rowID: rowID))
        }
    }

    /// Completes the last in-place change of a list, before anything is read or changed that depends on it. Does nothing in contexts that cannot change objects.
    @inline(__always)
    package final func settleMembers() { if graph.memberLists.unsettled != nil { editor?.settleCollection() } }

    /// Completes the last in-place change of a list before a relationship is read or changed that depends on it: the relationship of the list or its inverse.
    @inline(__always)
    final func settleMembers(before entityIndex: Int32, _ relationship: Int) {
        if graph.memberLists.unsettled != nil, isUnsettled(entityIndex, relationship) { editor?.settleCollection() }
    }

    /// Returns whether the unsettled list is one of a relationship, or of its inverse.
    final func isUnsettled(_ entityIndex: Int32, _ relationship: Int) -> Bool {
        guard let key = graph.memberLists.unsettled else { return false }
        if key.entityIndex == entityIndex, Int(key.relationship) == relationship { return true }
        let owner = entry(key.entityIndex)
        return owner.destinations[Int(key.relationship)] == entityIndex
            && owner.entity.relationships[Int(key.relationship)].inverse == relationship
    }

    /// Completes the last in-place change of a list before rows are read that depend on it: those of its entities, and those that related objects determine.
    final func settleMembers(before entityIndex: Int32, _ request: FetchRequest) {
        guard let key = graph.memberLists.unsettled else { return }
        guard request.looksAround || key.entityIndex == entityIndex || destination(key.entityIndex, Int(key.relationship)) == entityIndex
        else { return }
        settleMembers()
    }

    /// The old list is released after `memberLists` is consistent again.
    final func forgetMembers(_ key: RelationshipKey) { _ = graph.memberLists.forget(key) }

    final func forgetAllMembers() {
        let unsettled = graph.memberLists.unsettled.map { destination($0.entityIndex, Int($0.relationship)) }
        withExtendedLifetime(graph.forgetAllMembers(unsettledEntity: unsettled)) {}
    }

    @usableFromInline
    final func setMembers(_ key: RelationshipKey, _ rowIDs: [Int64]) { _ = graph.memberLists.set(key, rowIDs) }

    @usableFromInline
    final func fire(_ object: some Model) { fire(object, -1) }

    /// Reads the values of a fault. An accessor cannot throw, so errors are logged and the object keeps its default values.
    /// - Parameter field: the accessed field; −1 if unknown.
    final func fire(_ object: some Model, _ field: Int) {
        if let contents { return contents.fill(object, field, in: self) }
        beginReading()
        defer { endReading() }
        // The context can have moved, and the object can be deleted.
        guard object._$state.isFault else { return }
        let entry = entry(object._$state.entityIndex)
        let rowID = object._$state.rowID
        object._$state.flags.remove(.fault)
        do {
            if let record = try record(entry, rowID) {
                if entry.isPolymorphic { try checkKind(object, entry, record) }
                try object._$load(record)
            } else if let record = undoneRecord(entry, rowID) {
                try object._$load(record)
            } else {
                object._$state.flags.formUnion([.missing, .deleted])
                log(.warning, "\(entry.entity.name) \(rowID) was asked for, but is no longer in the store.")
            }
        } catch {
            // Another session can show the object.
            object._$state.flags.insert(hasSessions ? .fault : .missing)
            let error = described(error, entry, rowID)
            core.logger.log(error, "Reading \(entry.entity.name) \(rowID) failed", file: site.file, line: site.line, function: site.kind)
        }
    }

    /// Returns the values of an object whose change was undone, for the case that another transaction has deleted it; nil for other objects.
    package final func undoneRecord(_ entry: StoreEntity, _ rowID: Int64) -> RecordView? {
        changeBuffer?.tracker?.undoneRecord(RowReference(entityIndex: entry.entityIndex, rowID: rowID), entry.entity.layout)
    }

    /// Adds the names of the entity and attribute to a decoding error.
    @usableFromInline
    package final func described(_ error: any Error, _ entry: StoreEntity, _ rowID: Int64) -> StoreError {
        guard var error = error as? StoreError else {
            return StoreError(
                .corrupt, "\(entry.entity.name) \(rowID) cannot be read.", entity: entry.entity.name, rowID: rowID,
                underlying: "\(error)")
        }
        guard let field = error.fieldIndex else { return error }
        let name = entry.entity.fields.indices.contains(field) ? entry.entity.fields[field].name : "field \(field)"
        error.fieldIndex = nil
        error.attribute = name
        error.entity = entry.entity.name
        error.rowID = rowID
        error.location = entry.store.location
        error.message = "\(entry.entity.name).\(name) of object \(rowID): \(error.message)"
        return error
    }
}
