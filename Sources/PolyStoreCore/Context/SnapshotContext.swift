import PolyStoreBackend

/// A read-only context over one version of each store. What `read { }` hands out.
public class SnapshotContext: Context {
    fileprivate var readers: [(any ReadTransaction)?] = []
    fileprivate var hasEnded = false

    override func reader(_ store: PersistentStore) throws -> any ReadTransaction {
        if let reader = readers.indices.contains(store.index) ? readers[store.index] : nil { return reader }
        guard !hasEnded else {
            throw StoreError(.closed, "This context has ended; its objects can no longer read from the store.", url: store.url)
        }
        try begin()
        guard let reader = readers[store.index] else { throw StoreError(.closed, "The store is closed.", url: store.url) }
        return reader
    }

    /// Pins every store that is not pinned yet, all at once, so that what is read belongs together.
    fileprivate func begin() throws {
        while readers.count < table.stores.count { readers.append(nil) }
        for store in table.stores where readers[store.index] == nil { readers[store.index] = try store.backend.beginRead() }
    }

    /// The version of a store that this context shows; nil before it has been read from.
    public func version(of store: PersistentStore) -> UInt64? {
        readers.indices.contains(store.index) ? readers[store.index]?.version : nil
    }

    func end() {
        hasEnded = true
        fetchedAhead = []
        for reader in readers { reader?.end() }
        readers = []
    }

    deinit { for reader in readers { reader?.end() } }
}

/// The main actor's context: live, read-only objects that follow every commit.
///
/// It shows one version at a time and moves, whole, to the next: after an awaited `perform`, after `performAndWait` on the main actor,
/// and soon after any other commit. Its objects then have the new values; deleted ones say so in `isDeleted` and keep their last values.
public final class ViewContext: SnapshotContext {
    override func begin() throws {
        // From here on commits are kept until the view has seen them; before there is nothing that could be out of date.
        core.hub.activate()
        try super.begin()
    }

    /// Takes over stores that were added meanwhile.
    func update(_ table: StoreTable) {
        guard table.entries.count > self.table.entries.count else { return }
        self.table = table
        growMaps()
    }

    /// Moves to the newest version and brings every living object up to date.
    func catchUp() throws {
        guard !readers.isEmpty else { return }
        fetchedAhead = []
        let news = core.hub.take()
        for store in table.stores where store.index < readers.count {
            let mine = news.commits.filter { $0.store === store }
            guard !mine.isEmpty, let old = readers[store.index] else { continue }
            let new = try news.snapshots[store.index] ?? store.backend.beginRead()
            guard new.version > old.version else {
                // It has read them already, when it began or was refreshed.
                new.end()
                continue
            }
            readers[store.index] = new
            let seen = old.version
            old.end()
            for commit in mine where commit.version > seen { try merge(commit) }
        }
    }

    private func merge(_ commit: CommittedChanges) throws {
        for change in commit.changes.changes {
            let slot = commit.store.firstSlot + Int32(change.entity)
            switch change.kind {
            case .insert: continue
            // Of an object that was only moved in a list nothing is written but its position.
            case .update where change.mask.isDisjoint(with: entry(slot).declaredFields): continue
            case .update, .delete: try merge(entry(slot).type, slot, change, commit.changes)
            }
        }
        for key in commit.touched { memberLists[key] = nil }
    }

    private func merge<T: Model>(_ type: T.Type, _ slot: Int32, _ change: ChangeSet.Change, _ changes: ChangeSet) throws {
        guard let object = living(type, slot, change.id) else { return }
        if change.kind == .delete {
            // A fault that was never read has no last values, and nothing is left to read.
            object._$state.flags.remove(.fault)
            object._$state.flags.insert(.deleted)
        } else if !object._$state.isFault {
            try fill(object, entry(slot), change.id, changes.record(change))
        }
    }

    /// Forgets every value that was read, so that each is read anew: for changes made by another process.
    public func refresh() throws {
        for store in table.stores where store.index < readers.count && readers[store.index] != nil {
            let new = try store.backend.beginRead()
            readers[store.index]?.end()
            readers[store.index] = new
        }
        memberLists = [:]
        for map in maps {
            for case let object as any Model in map.objects where !object.isDeleted { object._$state.flags.insert(.fault) }
        }
    }
}
