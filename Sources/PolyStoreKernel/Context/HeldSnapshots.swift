import PolyStoreBackend

/// The snapshots of the stores that a context or an unqueued transaction holds open. They are listed in ``DataStack/openSnapshots``.
struct HeldSnapshots {
    /// The read transactions by store index; nil for stores that are not read.
    private(set) var readers: [(any ReadTransaction)?] = []
    /// The identifier in the stack's list of open snapshots.
    private var registration: Int?

    /// A Boolean value that indicates whether no snapshots can be opened any more.
    private var isClosed = false

    var isEmpty: Bool { readers.isEmpty }
    /// A Boolean value that indicates whether the next read opens snapshots, so that the context can adopt the current stores before it.
    var areToBeOpened: Bool { readers.isEmpty && !isClosed }

    /// Returns the read transaction of a store; nil if none is open.
    @inline(__always)
    subscript(store: PersistentStore) -> (any ReadTransaction)? { readers.indices.contains(store.index) ? readers[store.index] : nil }

    /// Returns the read transaction of a store.
    ///
    /// Begins the missing snapshots of all stores together, so that they belong to the same point in time.
    mutating func reader(of store: PersistentStore, _ table: StoreTable, _ core: StackCore, _ site: CallSite) throws -> any ReadTransaction
    {
        guard !isClosed else {
            throw StoreError(.closed, "This context has ended; its objects can no longer read from the store.", location: store.location)
        }
        try core.process.check("This stack")
        try begin(table, core, site)
        guard let reader = self[store] else { throw store.removedError }
        return reader
    }

    /// Begins the missing snapshots of all stores, or none of them if one fails.
    private mutating func begin(_ table: StoreTable, _ core: StackCore, _ site: CallSite) throws {
        var new: [(store: PersistentStore, reader: any ReadTransaction)] = []
        do {
            for store in table.openStores where self[store] == nil { new.append((store, try store.backend.beginRead())) }
        } catch {
            for (_, reader) in new { reader.end() }
            throw error
        }
        for (store, reader) in new { set(reader, of: store) }
        if registration == nil { registration = core.snapshots.open(site) }
    }

    /// Sets the read transaction of a store. The caller ends the one that it replaces.
    mutating func set(_ reader: (any ReadTransaction)?, of store: PersistentStore) {
        while readers.count <= store.index { readers.append(nil) }
        readers[store.index] = reader
    }

    /// Moves to other snapshots, by store index. The caller ends the ones that they replace.
    mutating func move(to new: [Int: any ReadTransaction], _ core: StackCore) {
        for (index, reader) in new { readers[index] = reader }
        if let registration { core.snapshots.renew(registration) }
    }

    /// Ends all snapshots.
    mutating func end(_ core: StackCore) {
        for reader in readers { reader?.end() }
        readers = []
        if let registration { core.snapshots.close(registration) }
        registration = nil
    }

    /// Ends all snapshots. No other can be opened.
    mutating func close(_ core: StackCore) {
        end(core)
        isClosed = true
    }
}
