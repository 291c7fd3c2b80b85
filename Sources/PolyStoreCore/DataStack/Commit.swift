import PolyStoreBackend

/// What one transaction has committed: for those who follow a stack; see ``DataStack/commits`` and ``DataStack/observeCommits(_:)``.
///
/// Sendable; the ids lead to the objects in any context, and the keys tell which properties changed.
public struct Commit: Sendable {
    /// What the transaction gave as its source, to tell one's own changes from those of others; nil where it gave none.
    public let sourceIdentifier: (any Hashable & Sendable)?
    /// What else it wanted to be known.
    public let userInfo: [String: any Sendable]
    /// A Boolean value that indicates whether another process, or another stack of this one, has committed it. Its source is then the author that the
    /// store's history names.
    public private(set) var isExternal = false
    /// A Boolean value that indicates whether nothing is known of what was changed: others have written to a store without recording a history. Read
    /// the objects again.
    public private(set) var changesAreUnknown = false
    /// A part for each store, in the order of the stack.
    let parts: [CommittedChanges]
    let table: StoreTable

    init(
        sourceIdentifier: (any Hashable & Sendable)?, userInfo: [String: any Sendable], isExternal: Bool = false, parts: [CommittedChanges],
        table: StoreTable
    ) {
        self.sourceIdentifier = sourceIdentifier
        self.userInfo = userInfo
        self.isExternal = isExternal
        self.parts = parts
        self.table = table
    }

    /// A commit of others of which nothing else is known.
    init(ofUnknownChangesIn table: StoreTable) {
        self.init(sourceIdentifier: nil, userInfo: [:], isExternal: true, parts: [], table: table)
        changesAreUnknown = true
    }

    /// The objects that were created.
    public func insertedObjectIDs<T: Model>(_ type: T.Type = T.self) -> Set<ObjectID<T>> { ids(type, .insert) }
    /// The objects whose attributes or to-one relationships were changed.
    public func updatedObjectIDs<T: Model>(_ type: T.Type = T.self) -> Set<ObjectID<T>> { ids(type, .update) }
    /// The objects that were deleted; a context that has moved on no longer finds them.
    public func deletedObjectIDs<T: Model>(_ type: T.Type = T.self) -> Set<ObjectID<T>> { ids(type, .delete) }

    /// The stored names of the properties of an object that were changed, to-many relationships included; of one that was created all its properties.
    public func changedKeys<T: Model>(of id: ObjectID<T>) -> Set<String> {
        var keys: Set<String> = []
        for part in parts where part.store === id.entry.store {
            let entity = id.entry.entity
            for change in part.changes.changes where change.entity == entity.index && change.id == id.key {
                switch change.kind {
                case .insert:
                    let kind = try? id.entry.family?.kind(part.changes.record(change))
                    let fields = kind?.fields ?? id.entry.declaredFields
                    keys.formUnion(fields.ordinals.map { entity.fields[$0].name })
                    keys.formUnion((kind?.relationships ?? entity.relationships).map(\.name))
                case .update:
                    keys.formUnion(change.mask.ordinals.filter(id.entry.declaredFields.contains).map { entity.fields[$0].name })
                case .delete: break
                }
            }
            for key in part.touched where key.slot == id.entry.slot && key.key == id.key {
                keys.insert(entity.relationships[Int(key.relationship)].name)
            }
        }
        return keys
    }

    private func ids<T: Model>(_ type: T.Type, _ kind: ChangeSet.Kind) -> Set<ObjectID<T>> {
        var found: Set<ObjectID<T>> = []
        for entry in table.byType[ObjectIdentifier(type)] ?? [] {
            let names = entry.family?.kind(type)?.concreteNames
            for part in parts where part.store === entry.store {
                for change in part.changes.changes where change.kind == kind && change.entity == entry.entity.index {
                    // Of an object whose place in a list changed nothing else has to be said than that the list did.
                    if kind == .update, change.mask.isDisjoint(with: entry.declaredFields) { continue }
                    if let names, !names.contains(part.kind(of: change, entry)) { continue }
                    found.insert(ObjectID(entry: entry, key: change.id))
                }
            }
        }
        return found
    }
}

extension CommittedChanges {
    /// The entity of a changed object of a hierarchy.
    fileprivate func kind(of change: ChangeSet.Change, _ entry: StoreEntity) -> String {
        guard change.kind != .delete else { return deletedKinds[ObjectKey(slot: entry.slot, key: change.id)] ?? "" }
        // Records are written whole, whatever of them is to be changed.
        return (try? entry.family?.kind(changes.record(change)).name) ?? ""
    }
}

/// Ends the observation when it goes.
public final class CommitObservation: Sendable {
    private let hub: CommitHub
    private let id: Int

    init(_ hub: CommitHub, _ id: Int) {
        self.hub = hub
        self.id = id
    }

    public func cancel() { hub.removeObserver(id) }

    deinit { cancel() }
}

extension DataStack {
    /// Calls a closure after every commit, on a queue of the stack's own, in the order of the commits, until the answer is let go.
    public func observeCommits(_ tell: @escaping @Sendable (Commit) -> Void) -> CommitObservation { observeCommits(tell, end: {}) }

    private func observeCommits(
        _ tell: @escaping @Sendable (Commit) -> Void, end: @escaping @Sendable () -> Void
    ) -> CommitObservation {
        CommitObservation(core.hub, core.hub.observe(tell, end: end))
    }

    /// Every commit from now on, until the stack goes. What is not taken yet waits, without a limit.
    public var commits: AsyncStream<Commit> {
        AsyncStream { continuation in
            let observation = observeCommits({ continuation.yield($0) }, end: { continuation.finish() })
            continuation.onTermination = { _ in observation.cancel() }
        }
    }
}
