import PolyStoreBackend
import Synchronization

/// A consistent view of a stack's objects, with one object per id. It is used by one thread or actor at a time.
///
/// There are three kinds: the main actor's ``DataStack/view``, the snapshots of `read { }`, and ``Transaction``s, which are the only ones that can
/// change objects.
/// Neither contexts nor their objects are Sendable, so the compiler prevents their use on other threads. Pass objects between contexts by
/// ``ObjectID``.
public class Context {
    final let core: StackCore
    // A context is used by one thread at a time, and none of its methods exposes these properties for in-place mutation.
    @exclusivity(unchecked) @usableFromInline final var table: StoreTable
    @exclusivity(unchecked) @usableFromInline final var maps: [IdentityMap] = []
    /// The cached members of to-many relationships.
    @exclusivity(unchecked) @usableFromInline final var memberLists = MemberLists()

    /// The source location that created this context.
    @exclusivity(unchecked) final var site: CallSite
    /// Observes the requests sent to stores: for ``explaining(_:)``, or the log at `trace`.
    @exclusivity(unchecked) final var watcher: (any ReadWatcher)?
    /// The prefetched rows; nil if there are none. Retaining objects instead would create a reference cycle with the context.
    @exclusivity(unchecked) @usableFromInline final var rowsAhead: FetchedRows?
    /// The monitors of the context; nil as long as it has none.
    @exclusivity(unchecked) final var observers: ContextObservers?
    /// The maps of substitutes for missing objects, by entity index.
    @exclusivity(unchecked) final var strays: [Int32: IdentityMap] = [:]

    init(core: StackCore, table: StoreTable, _ site: CallSite) {
        self.core = core
        self.table = table
        self.site = site
        growMaps()
        watchReads()
    }

    /// Starts logging requests if the logger accepts `trace`. Checked when a context is created or moves to another version, not for each request.
    final func watchReads() { watcher = QueryLog(core.logger, site) }

    /// Logs a message with the source location that created this context.
    final func log(_ level: LogLevel, _ message: @autoclosure () -> String) { core.logger.write(level, site, message()) }

    /// Creates missing identity maps, one for each entity of the table.
    final func growMaps() {
        while maps.count < table.entries.count {
            maps.append(newMap(Int32(maps.count), isPolymorphic: table.entries[maps.count].isPolymorphic))
        }
    }

    final func newMap(_ slot: Int32, isPolymorphic: Bool) -> IdentityMap {
        IdentityMap(self, slot: slot, isPolymorphic: isPolymorphic, keepsContext: isKeptByObjects)
    }

    /// Applies the additions and removals of stores since the context was created.
    final func update(_ table: StoreTable) {
        guard table.generation > self.table.generation else { return }
        self.table = table
        growMaps()
        didGrow()
    }

    /// Returns whether an object belongs to this context.
    final func owns(_ object: any Model) -> Bool {
        let map = object._$state.unretainedMap.toOpaque()
        let slot = object._$state.slot
        if Int(slot) < maps.count, Unmanaged.passUnretained(maps[Int(slot)]).toOpaque() == map { return true }
        return strays[slot].map { Unmanaged.passUnretained($0).toOpaque() == map } ?? false
    }

    // MARK: Overridden by kinds of contexts

    /// A Boolean value that indicates whether the context lives as long as any of its objects.
    var isKeptByObjects: Bool { true }

    /// Called after stores were added to the table.
    func didGrow() {}

    /// Called when the first observer is added.
    func beginObserving() {}

    /// The current stores of the stack; nil if the context cannot adopt new ones because it has already read a snapshot of the others.
    var newerTable: StoreTable? { nil }

    /// Returns the read transaction for a store.
    final func storage(_ store: PersistentStore) throws -> any ReadTransaction {
        let reader = try reader(store)
        return watcher?.watched(reader, of: store) ?? reader
    }

    func reader(_ store: PersistentStore) throws -> any ReadTransaction {
        throw StoreError(.closed, "This context has ended.", url: store.url)
    }

    /// Called before the first change of an object.
    func beginEditing(_ object: any Model) -> EditState {
        preconditionFailure(
            "\(object._$state.context.entry(object._$state.slot).entity.name) \(object._$state.key) was changed outside a transaction; "
                + "change it in `perform`, where `edit(_:)` gives the object to change.")
    }

    /// Called when a to-one relationship is set.
    func retarget<T: Model>(_ object: any Model, _ relationship: Int, from old: ToOne, to new: T?) -> ToOne {
        _ = beginEditing(object)
        return old
    }

    func setMembers<T: Model>(of object: any Model, _ relationship: Int, to members: Set<T>) { _ = beginEditing(object) }

    /// Returns an object that records the accessed properties; see ``KeyPathProbe``.
    func note<T: Model>(_ type: T.Type, _ map: IdentityMap, _ key: Int64) -> T? { nil }

    func setMembers<T: Model>(of object: any Model, _ relationship: Int, to members: [T]) { _ = beginEditing(object) }

    /// Lends the members of a to-many relationship for in-place mutation.
    @usableFromInline
    func lend<T: Model>(_ object: any Model, _ relationship: Int) -> MemberLoan<Set<T>> { MemberLoan(object._$members(of: relationship)) }

    /// Takes the members back and updates the inverse relationships.
    @usableFromInline
    func takeBack<T: Model>(_ loan: inout MemberLoan<Set<T>>, _ object: any Model, _ relationship: Int) { _ = beginEditing(object) }

    @usableFromInline
    func lend<T: Model>(_ object: any Model, _ relationship: Int) -> MemberLoan<[T]> { MemberLoan(object._$members(of: relationship)) }

    @usableFromInline
    func takeBack<T: Model>(_ loan: inout MemberLoan<[T]>, _ object: any Model, _ relationship: Int) { _ = beginEditing(object) }

    /// Returns the pending changes of a to-many relationship.
    func pendingMembers(_ key: MemberKey) -> MemberChanges? { nil }

    /// A Boolean value that indicates whether reads include pending changes of a parent transaction.
    var readsPending: Bool { false }

    /// Returns the rows of a request, including pending changes if the context has any.
    func rows(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> RecordCursor {
        try storage(entry.store).fetch(request)
    }

    /// Returns the rows of a request, unaffected by changes during the iteration.
    func steadyRows(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> RecordCursor {
        try rows(entry, request, options)
    }

    func count(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> Int {
        try storage(entry.store).count(request)
    }

    @usableFromInline
    func memberSource(_ key: MemberKey, isInserted: Bool) throws -> MemberSource { try storedSource(key, isInserted: isInserted) }

    /// Returns the related objects for predicates on relationships.
    func related(_ store: PersistentStore, _ options: FetchOptions) throws -> any RelatedRecords { try storage(store) }

    // MARK: Objects

    final func entry(_ slot: Int32) -> StoreEntity { table.entries[Int(slot)] }

    /// Returns the registered object with a row id, if there is one.
    @inlinable
    final func living<T: Model>(_ type: T.Type, _ slot: Int32, _ key: Int64) -> T? {
        let map = maps[Int(slot)]
        guard let object = map.object(key) else { return nil }
        if map.isPolymorphic { return object as? T }
        // The map of a single class contains objects of that class only.
        return unsafeDowncast(object, to: type)
    }

    /// Returns the registered object with a row id, or a new fault.
    @inlinable
    final func object<T: Model>(_ type: T.Type, _ slot: Int32, _ key: Int64) -> T {
        if let living = living(type, slot, key) { return living }
        let map = maps[Int(slot)]
        if map.isPolymorphic { return relative(type, map, key) }
        if rowsAhead != nil, let object = ahead(type, slot, key) { return object }
        let object = T(_$state: ModelState(map, key: key, flags: .fault))
        map.insert(key, object)
        return object
    }

    /// Removes the member lists of objects released since the last call.
    @inlinable
    final func dropForgottenLists(_ slot: Int32) {
        if maps[Int(slot)].hasForgotten.load(ordering: .relaxed) { dropLists(slot) }
    }

    @usableFromInline
    final func dropLists(_ slot: Int32) {
        let keys = maps[Int(slot)].takeForgotten()
        for relationship in entry(slot).entity.relationships where relationship.isToMany {
            for key in keys { forgetMembers(MemberKey(slot: slot, relationship: Int32(relationship.ordinal), key: key)) }
        }
    }

    /// The old list is released after `memberLists` is consistent again.
    final func forgetMembers(_ key: MemberKey) { _ = memberLists.forget(key) }

    final func forgetAllMembers() {
        let old = memberLists
        memberLists = MemberLists()
        withExtendedLifetime(old) {}
    }

    @usableFromInline
    final func setMembers(_ key: MemberKey, _ keys: [Int64]) { _ = memberLists.set(key, keys) }

    @usableFromInline
    final func fire(_ object: some Model) { fire(object, -1) }

    /// Reads the values of a fault. An accessor cannot throw, so errors are logged and the object keeps its default values.
    /// - Parameter field: the accessed field; −1 if unknown.
    func fire(_ object: some Model, _ field: Int) {
        let entry = entry(object._$state.slot)
        let key = object._$state.key
        object._$state.flags.remove(.fault)
        do {
            if let record = try record(entry, key) {
                if entry.isPolymorphic { try checkKind(object, entry, record) }
                try object._$load(record)
            } else {
                object._$state.flags.formUnion([.missing, .deleted])
                log(.warning, "\(entry.entity.name) \(key) was asked for, but is no longer in the store.")
            }
        } catch {
            object._$state.flags.insert(.missing)
            let error = described(error, entry, key)
            core.logger.log(error, "Reading \(entry.entity.name) \(key) failed", file: site.file, line: site.line, function: site.kind)
        }
    }

    /// Adds the names of the entity and attribute to a decoding error.
    @usableFromInline
    final func described(_ error: any Error, _ entry: StoreEntity, _ key: Int64) -> StoreError {
        guard var error = error as? StoreError else {
            return StoreError(
                .corrupt, "\(entry.entity.name) \(key) cannot be read.", entity: entry.entity.name, objectID: key, underlying: "\(error)")
        }
        guard let mark = error.attribute, mark.hasPrefix("#"), let ordinal = Int(mark.dropFirst()) else { return error }
        let name = entry.entity.fields.indices.contains(ordinal) ? entry.entity.fields[ordinal].name : mark
        error.attribute = name
        error.entity = entry.entity.name
        error.objectID = key
        error.url = entry.store.url
        error.message = "\(entry.entity.name).\(name) of object \(key): \(error.message)"
        return error
    }
}

/// A to-many relationship of one object.
@usableFromInline
struct MemberKey: Hashable {
    @usableFromInline let slot: Int32
    @usableFromInline let relationship: Int32
    @usableFromInline let key: Int64

    @usableFromInline
    init(slot: Int32, relationship: Int32, key: Int64) {
        self.slot = slot
        self.relationship = relationship
        self.key = key
    }
}
