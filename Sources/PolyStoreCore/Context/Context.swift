import PolyStoreBackend
import Synchronization

/// One consistent view of a stack's objects: one object per id, used by one thread or actor at a time.
///
/// Three kinds: the main actor's ``DataStack/view``, the snapshots of `read { }`, and ``Transaction``s, which alone may change objects.
/// Not Sendable, and neither are its objects: the compiler keeps them where they belong. Take objects across by ``ObjectID``.
public class Context {
    final let core: StackCore
    // A context is used by one thread at a time, and none of its methods hands out one of these in place.
    @exclusivity(unchecked) @usableFromInline final var table: StoreTable
    @exclusivity(unchecked) @usableFromInline final var maps: [IdentityMap] = []
    /// The ids that to-many relationships lead to, where they were asked for.
    @exclusivity(unchecked) @usableFromInline final var memberLists = MemberLists()

    /// The place in the user's code that began this context.
    @exclusivity(unchecked) final var site: CallSite
    /// What sees the requests that go to the stores: ``explaining(_:)``, or the log at `trace`.
    @exclusivity(unchecked) final var watcher: (any ReadWatcher)?
    /// Rows that were fetched ahead; nil where there are none. Rows and not objects: those would keep the context alive, and the context them.
    @exclusivity(unchecked) @usableFromInline final var rowsAhead: FetchedRows?
    /// The monitors of the context; nil as long as it has none.
    @exclusivity(unchecked) final var observers: ContextObservers?
    /// What holds objects that stand for missing ones, by slot.
    @exclusivity(unchecked) final var strays: [Int32: IdentityMap] = [:]

    init(core: StackCore, table: StoreTable, _ site: CallSite) {
        self.core = core
        self.table = table
        self.site = site
        growMaps()
        watchReads()
    }

    /// Logs requests from now on if the logger wants them. Asked where a context begins and where it moves to another version, not at each request.
    final func watchReads() { watcher = QueryLog(core.logger, site) }

    /// Logs a message that carries the place in the user's code that began this context.
    final func log(_ level: LogLevel, _ message: @autoclosure () -> String) { core.logger.write(level, site, message()) }

    /// Gives every entity of the table an identity map.
    final func growMaps() {
        while maps.count < table.entries.count {
            maps.append(newMap(Int32(maps.count), isPolymorphic: table.entries[maps.count].isPolymorphic))
        }
    }

    final func newMap(_ slot: Int32, isPolymorphic: Bool) -> IdentityMap {
        IdentityMap(self, slot: slot, isPolymorphic: isPolymorphic, keepsContext: isKeptByObjects)
    }

    /// Learns of the stores that were added to the stack since the context was made.
    final func update(_ table: StoreTable) {
        guard table.entries.count > self.table.entries.count else { return }
        self.table = table
        growMaps()
        didGrow()
    }

    /// Whether an object is one of this context's.
    final func owns(_ object: any Model) -> Bool {
        let map = object._$state.unretainedMap.toOpaque()
        let slot = object._$state.slot
        if Int(slot) < maps.count, Unmanaged.passUnretained(maps[Int(slot)]).toOpaque() == map { return true }
        return strays[slot].map { Unmanaged.passUnretained($0).toOpaque() == map } ?? false
    }

    // MARK: What the kinds of contexts differ in

    /// Whether the context lives as long as one of its objects does.
    var isKeptByObjects: Bool { true }

    /// Called when stores were added to the table.
    func didGrow() {}

    /// Called when the first observer is added.
    func beginObserving() {}

    /// The stack's stores as they are now; nil where the context cannot take new ones over because it has read a version of the others already.
    var newerTable: StoreTable? { nil }

    /// What to read a store through.
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

    /// An object that only takes notes; see ``KeyPathProbe``.
    func note<T: Model>(_ type: T.Type, _ map: IdentityMap, _ key: Int64) -> T? { nil }

    func setMembers<T: Model>(of object: any Model, _ relationship: Int, to members: [T]) { _ = beginEditing(object) }

    /// Hands out the objects of a to-many relationship to be changed in place.
    @usableFromInline
    func lend<T: Model>(_ object: any Model, _ relationship: Int) -> MemberLoan<Set<T>> { MemberLoan(object._$members(of: relationship)) }

    /// Takes them back, and keeps the other ends right.
    @usableFromInline
    func takeBack<T: Model>(_ loan: inout MemberLoan<Set<T>>, _ object: any Model, _ relationship: Int) { _ = beginEditing(object) }

    @usableFromInline
    func lend<T: Model>(_ object: any Model, _ relationship: Int) -> MemberLoan<[T]> { MemberLoan(object._$members(of: relationship)) }

    @usableFromInline
    func takeBack<T: Model>(_ loan: inout MemberLoan<[T]>, _ object: any Model, _ relationship: Int) { _ = beginEditing(object) }

    /// What a transaction's own changes do to the list of a to-many relationship.
    func pendingMembers(_ key: MemberKey) -> MemberChanges? { nil }

    /// Whether what is read includes changes that another transaction has still to write.
    var readsPending: Bool { false }

    /// Rows of a request, own changes included where the context has any.
    func rows(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> RecordCursor {
        try storage(entry.store).fetch(request)
    }

    /// The same rows, whatever is changed while the walk goes on.
    func steadyRows(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> RecordCursor {
        try rows(entry, request, options)
    }

    func count(_ entry: StoreEntity, _ request: FetchRequest, _ options: FetchOptions) throws -> Int {
        try storage(entry.store).count(request)
    }

    @usableFromInline
    func memberSource(_ key: MemberKey, isInserted: Bool) throws -> MemberSource { try storedSource(key, isInserted: isInserted) }

    /// Where conditions on relationships find other objects.
    func related(_ store: PersistentStore, _ options: FetchOptions) throws -> any RelatedRecords { try storage(store) }

    // MARK: Objects

    final func entry(_ slot: Int32) -> StoreEntity { table.entries[Int(slot)] }

    /// The living object of an id, if there is one.
    @inlinable
    final func living<T: Model>(_ type: T.Type, _ slot: Int32, _ key: Int64) -> T? {
        let map = maps[Int(slot)]
        guard let object = map.object(key) else { return nil }
        if map.isPolymorphic { return object as? T }
        // The map of an entry of one class holds objects of that class only.
        return unsafeDowncast(object, to: type)
    }

    /// The object of an id: the living one, or a new fault.
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

    /// Drops the lists of objects that have gone since somebody asked last.
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

    /// What the list has held goes when it is up to date.
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

    /// Reads the values of a fault. An accessor cannot throw, so what goes wrong is logged, and the object keeps its defaults.
    /// - Parameter field: the one that was asked for; −1: not told.
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

    /// An error of decoding, with the names that the decoder does not know.
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
