import PolyStoreBackend
import PolyStoreKernel

/// The pending references to objects of one class: until the end of an import call or, if their targets do not exist then, until the commit.
final class ReferenceQueue<T: ImportableUniqueObject> {
    struct Link {
        /// The target; `nil` for an empty reference.
        let target: (key: ImportKey, id: T.UniqueIDType)?
        let policy: MissingReference
        let holder: ReferenceHolder
        /// Assigns the target; `nil` if it is missing and ignored.
        let assign: (T?) throws -> Void
    }

    /// References that have not been looked up yet, in the order of their creation.
    private var fresh: [Link] = []
    /// References whose targets were not found, with their sequence numbers, until an import inserts the target or until the commit.
    private var late: [ImportKey: [(number: Int, link: Link)]] = [:]
    private var lateHolders: [ReferenceHolder.Replaced: (number: Int, keys: [ImportKey])] = [:]
    private var lateCount = 0
    private var nested: [T.ImportSource] = []
    /// Targets that were found before.
    private var resolved: [ImportKey: T] = [:]

    /// Adds a nested source, which is imported at the end of the import call.
    func add(_ source: T.ImportSource) { nested.append(source) }

    /// Adds a reference, or resolves it immediately if its target was found before.
    func add(_ link: Link, _ importer: UniqueImporter<T>) throws {
        // Preserves the order of the references to one relationship. To-many relationships of many objects are read together.
        if fresh.isEmpty, !link.holder.isToMany {
            replaceLate(link.holder)
            guard let target = link.target else { return try link.assign(nil) }
            if let known = known(target.key, importer) { return try link.assign(known) }
        }
        fresh.append(link)
    }

    /// Removes references that a newer one to the same relationship replaces.
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

    /// Imports nested sources and resolves references.
    /// - Parameter isFinal: A Boolean value that indicates whether references whose targets were not found before are looked up again.
    /// - Returns: A Boolean value that indicates whether anything was imported or assigned.
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

    /// Removes and returns the late references that can be resolved or ended now, in the order of their creation.
    private func takeLate(_ importer: UniqueImporter<T>, isFinal: Bool) throws -> [Link] {
        guard !late.isEmpty else { return [] }
        let keys = isFinal ? Array(late.keys) : importer.importedKeys { late[$0] != nil }
        let taken = keys.flatMap { late.removeValue(forKey: $0) ?? [] }.sorted { $0.number < $1.number }
        if late.isEmpty { lateHolders = [:] }
        return taken.map(\.link)
    }

    /// Reads the current objects of the to-many relationships that are about to change, with one query per relationship.
    private func readMembers(of links: [Link], _ transaction: Transaction) throws {
        var objects: [ReferenceHolder.Property: [any Model]] = [:]
        var holders: [ReferenceHolder.Property: ReferenceHolder] = [:]
        for link in links where link.holder.isToMany {
            guard let object = link.holder.object, let path = link.holder.path, !object.isInserted else { continue }
            let key = ReferenceHolder.Property(path: path, entityIndex: object._$state.entityIndex)
            if objects[key]?.last !== object { objects[key, default: []].append(object) }
            holders[key] = link.holder
        }
        for (key, holder) in holders {
            guard let (entry, relationship) = holder.relationship(transaction) else { continue }
            try transaction.readMembers(of: objects[key] ?? [], relationship, entry)
        }
    }

    /// Returns the targets: known ones, the results of one combined lookup, and new stubs.
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
    /// - Returns: The references for which a missing target is an error. They are kept, so that the program can import the targets and commit again.
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
