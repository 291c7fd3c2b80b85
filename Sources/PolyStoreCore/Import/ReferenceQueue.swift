import PolyStoreBackend

/// The references to objects of one class that wait for the end of an import call, or, where their targets do not exist then, for the commit.
final class ReferenceQueue<T: ImportableUniqueObject> {
    struct Link {
        /// nil: the reference leads to no object.
        let target: (key: ImportKey, id: T.UniqueIDType)?
        let policy: MissingReference
        let holder: ReferenceHolder
        /// Gets nil where the target is missing and ignored.
        let assign: (T?) throws -> Void
    }

    /// Not looked up yet, in the order in which they were made.
    private var fresh: [Link] = []
    /// Looked up and not found, with their numbers: until an import inserts the target, or until the commit.
    private var late: [ImportKey: [(number: Int, link: Link)]] = [:]
    private var lateHolders: [ReferenceHolder.Replaced: (number: Int, keys: [ImportKey])] = [:]
    private var lateCount = 0
    private var nested: [T.ImportSource] = []
    /// Targets that were found before.
    private var resolved: [ImportKey: T] = [:]

    /// Adds a source that is imported at the end of the call.
    func add(_ source: T.ImportSource) { nested.append(source) }

    /// Adds a reference, or resolves it at once where its target was found before.
    func add(_ link: Link, _ importer: UniqueImporter<T>) throws {
        // The order of the references to one relationship is kept. To-many relationships of many objects are read together.
        if fresh.isEmpty, !link.holder.isToMany {
            replaceLate(link.holder)
            guard let target = link.target else { return try link.assign(nil) }
            if let known = known(target.key, importer) { return try link.assign(known) }
        }
        fresh.append(link)
    }

    /// Forgets the references that a newer one to the same relationship replaces.
    private func replaceLate(_ holder: ReferenceHolder) {
        guard !lateHolders.isEmpty, let replaced = holder.replaced, let known = lateHolders[replaced], known.number != holder.number else {
            return
        }
        lateHolders[replaced] = nil
        for key in known.keys {
            late[key]?.removeAll { $0.link.holder.replaced == replaced }
            if late[key]?.isEmpty ?? false { late[key] = nil }
        }
    }

    /// Returns the target of a reference that was resolved before.
    private func known(_ key: ImportKey, _ importer: UniqueImporter<T>) -> T? {
        guard let object = resolved[key] else { return nil }
        if importer.isObject(object, of: key) { return object }
        resolved[key] = nil
        return nil
    }

    /// Imports nested sources and resolves what can be resolved.
    /// - Parameter isFinal: whether those are looked up again whose targets were not found before.
    /// - Returns: whether anything was imported or assigned.
    func resolve(_ importer: UniqueImporter<T>, isFinal: Bool) throws -> Bool {
        let sources = nested
        nested = []
        if !sources.isEmpty { _ = try importer.transaction.importUniqueObjects(importer, sources) }
        var links = try takeLate(importer, isFinal: isFinal)
        links += fresh
        fresh = []
        guard !links.isEmpty else { return !sources.isEmpty }
        let targets = try targets(of: links, importer)
        try readMembers(of: links, importer.transaction)
        var progresses = !sources.isEmpty
        for link in links {
            replaceLate(link.holder)
            if let key = link.target?.key, targets[key] == nil {
                keep(link, key)
            } else {
                try link.assign(link.target.flatMap { targets[$0.key] })
                progresses = true
            }
        }
        return progresses
    }

    private func keep(_ link: Link, _ key: ImportKey) {
        late[key, default: []].append((lateCount, link))
        lateCount += 1
        if let replaced = link.holder.replaced { lateHolders[replaced, default: (link.holder.number, [])].keys.append(key) }
    }

    /// Takes the late references out that can be resolved or end now, in the order in which they were made.
    private func takeLate(_ importer: UniqueImporter<T>, isFinal: Bool) throws -> [Link] {
        guard !late.isEmpty else { return [] }
        let keys = isFinal ? Array(late.keys) : importer.importedKeys { late[$0] != nil }
        let taken = keys.flatMap { late.removeValue(forKey: $0) ?? [] }.sorted { $0.number < $1.number }
        if late.isEmpty { lateHolders = [:] }
        return taken.map(\.link)
    }

    /// Reads what the to-many relationships lead to that are about to change, with one query for each relationship.
    private func readMembers(of links: [Link], _ transaction: Transaction) throws {
        var objects: [ReferenceHolder.Property: [any Model]] = [:]
        var holders: [ReferenceHolder.Property: ReferenceHolder] = [:]
        for link in links where link.holder.isToMany {
            guard let object = link.holder.object, let path = link.holder.path, !object.isInserted else { continue }
            let key = ReferenceHolder.Property(path: path, slot: object._$state.slot)
            if objects[key]?.last !== object { objects[key, default: []].append(object) }
            holders[key] = link.holder
        }
        for (key, holder) in holders {
            guard let (entry, relationship) = holder.relationship(transaction) else { continue }
            try transaction.readMembers(of: objects[key] ?? [], relationship, entry)
        }
    }

    /// Finds the targets: those that are known, the others looked up together, and those that are to be stubs.
    private func targets(of links: [Link], _ importer: UniqueImporter<T>) throws -> [ImportKey: T] {
        var targets: [ImportKey: T] = [:]
        var wanted: Set<ImportKey> = []
        var order: [ImportKey] = []
        for link in links {
            guard let key = link.target?.key, targets[key] == nil else { continue }
            if let object = known(key, importer) ?? importer.known(key) {
                targets[key] = object
            } else if wanted.insert(key).inserted {
                order.append(key)
            }
        }
        try importer.fetch(importer.lookUps(ImportKeyIndex(order), order)) { position, object in
            if targets[order[position]] == nil { targets[order[position]] = object }
        }
        for link in links where link.policy == .createStub {
            if let target = link.target, targets[target.key] == nil { targets[target.key] = try importer.insertStub(target.id) }
        }
        resolved.merge(targets) { $1 }
        return targets
    }

    /// Ends the references whose targets do not exist.
    /// - Returns: those for which that is an error. They stay, so that the program can import the targets and commit again.
    func end(_ entity: String) throws -> [UnresolvedReference] {
        let left = late.values.joined().sorted { $0.number < $1.number }.map(\.link)
        (late, lateHolders) = ([:], [:])
        var missing: [UnresolvedReference] = []
        for link in left {
            guard let key = link.target?.key else { continue }
            if link.policy == .fail {
                keep(link, key)
                missing.append(UnresolvedReference(entity: entity, key: key, holder: link.holder))
            } else {
                try link.assign(nil)
            }
        }
        return missing
    }
}
