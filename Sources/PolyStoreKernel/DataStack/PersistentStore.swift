import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreQuery
import PolyStoreRuns
import Synchronization

/// A store of a stack: an open backend with the entities of one configuration.
public final class PersistentStore: Sendable {
    /// The index of the store in its stack, from 0, in the order in which stores were added.
    package let index: Int
    /// The name of the configuration; nil for the default configuration.
    public let configurationName: String?
    /// The configuration that the store was opened with.
    public let configuration: StoreConfiguration
    package let backend: any StorageBackend
    package let schema: ResolvedSchema
    /// The entity index of the first entity in the stack. Those of the others follow in the order of the schema.
    package let firstEntityIndex: Int32
    var entityIndexes: Range<Int32> { firstEntityIndex..<firstEntityIndex + Int32(schema.entities.count) }
    /// A Boolean value that indicates whether a call of the backend waits for a server; see ``Capabilities/waitsForServer``.
    let waitsForServer: Bool
    /// A Boolean value that indicates whether its snapshots are given back; see `Capabilities.Feature.shortSnapshots`.
    let hasShortSnapshots: Bool
    /// A Boolean value that indicates whether the store checks the targets of relationships; see `Capabilities.Feature.requiredObjects`.
    let checksTargets: Bool
    /// Measures the commits and waits of the stack.
    let slowOperations: SlowOperations
    /// The reserved row ids that have not been assigned, by entity.
    let spareRowIDs: SpareRowIDs
    /// The write access to this location, shared with stores of other stacks.
    let writeAccess: StoreWriteAccess
    /// The names of the store when it was opened; see ``StoreConfiguration/names``.
    private let names: Set<StoreName>
    /// The options of the history that commits of this stack record; `nil` if they record none. The history itself is read with
    /// ``DataStack/history(since:matching:limit:file:line:)``.
    public let historyOptions: HistoryOptions?
    /// The state of the history after the last commit of this stack.
    let historyState = Protected<HistoryRecorder.State?>(nil)
    /// The versions of the stack's schema, which the store keeps.
    private let versions: any KnownVersions
    /// A Boolean value that indicates whether the next commit completes the list of the store's versions.
    let recordsVersions: Atomic<Bool>

    init(
        index: Int, firstEntityIndex: Int32, configurationName: String?, configuration: StoreConfiguration, backend: any StorageBackend,
        schema: ResolvedSchema, history: HistoryOptions? = nil, versions: any KnownVersions, slowOperations: SlowOperations,
        sessions: SnapshotSessions
    ) {
        self.slowOperations = slowOperations
        self.versions = versions
        recordsVersions = Atomic(StoreVersions.isKept(by: backend.capabilities))
        historyOptions = history
        self.index = index
        self.firstEntityIndex = firstEntityIndex
        self.configurationName = configurationName
        self.configuration = configuration
        self.backend = backend.readingAhead(maximumStaleness: configuration.maximumStaleness, sessions: sessions)
        let capabilities = backend.capabilities
        (waitsForServer, hasShortSnapshots) = (capabilities.waitsForServer, capabilities.has(.shortSnapshots))
        checksTargets = capabilities.has(.requiredObjects)
        self.schema = schema
        names = configuration.names
        writeAccess = StoreWriteAccess.of(configuration)
        spareRowIDs = SpareRowIDs(entityCount: schema.entities.count)
    }

    /// Returns whether a configuration has the same engine and the same file or folder, which can have several names.
    /// - Parameter names: The names of the configuration.
    func isSame(as other: StoreConfiguration, _ others: Set<StoreName>) -> Bool {
        guard configuration.isShared, other.isShared, !names.isDisjoint(with: others) else { return false }
        guard !others.contains(StoreName(url)), other.remote == nil else { return true }
        // The store keeps its file open, so no other file can have its identity. A folder that was deleted can have passed it on to another one.
        if case .file? = try? StorePath(path: other.location).kind() { return true }
        return !configuration.names.isDisjoint(with: others)
    }

    /// The unique id of the store, generated when it was created. It is part of the URI of every object.
    public var storeID: String { backend.metadata.storeID }
    /// The optional features that the backend supports.
    public var capabilities: Capabilities { backend.capabilities }
    /// The location of the store, as in `StoreError.location`: the absolute path of its file or folder, or `memory:` and a number.
    public var location: String { configuration.location }
    /// The URL of the store: `engine:location`, as `addStore(url:)` accepts it.
    public var url: String { configuration.url }

    /// Begins or completes the list of the store's versions in a commit.
    func recordVersions(_ transaction: any WriteTransaction) throws { try versionList(transaction).write(transaction, schema) }

    /// Begins or completes the list of the store's versions at an opening for writing, so that it protects a store that is only read afterwards.
    ///
    /// A store that has the list is not changed. The list is left to the first commit in a store without commits, which has no data that an earlier version could
    /// remove; while another stack of the process has the store open, whose transaction could wait for the opening; and if it cannot be written now, because an opening
    /// does not fail for it.
    func recordVersionsAtOpening(_ logger: any StoreLogger) {
        guard recordsVersions.load(ordering: .relaxed), !configuration.isReadOnly else { return }
        do {
            guard try !hasVersions(), !writeAccess.isShared else { return }
            let transaction = try backend.beginWrite()
            do {
                try recordVersions(transaction)
                let recorder = try recordOpening(transaction)
                let version = try transaction.commit(configuration.durability)
                recorder?.didCommit(version)
            } catch {
                transaction.rollback()
                throw error
            }
            recordsVersions.store(false, ordering: .relaxed)
        } catch {
            logger.write(.notice, "The list of the versions of \(location) is left to the first commit: \(error)")
        }
    }

    /// Returns whether the store needs no list before the first commit, because it is complete or because the store has no commits.
    private func hasVersions() throws -> Bool {
        let reader = try backend.beginRead()
        defer { reader.end() }
        // Before the version, which a server then sends with the list.
        let list = try versionList(reader)
        guard try reader.version > 0 else { return true }
        guard list.isStored else { return false }
        recordsVersions.store(false, ordering: .relaxed)
        return true
    }

    /// Begins a read transaction and reads its version.
    /// - Parameter mayWait: Whether the snapshot can wait until readers give their sessions back.
    func beginReadOfVersion(mayWait: Bool) throws -> (any ReadTransaction, UInt64) {
        let reader = try mayWait ? backend.beginRead() : backend.beginReadWithoutWaiting()
        do { return (reader, try reader.version) } catch {
            reader.end()
            throw error
        }
    }

    /// Adds an entry without changes to the history of a store that has one: a version without an entry would be one of unrecorded changes.
    private func recordOpening(_ transaction: any WriteTransaction) throws -> HistoryRecorder? {
        guard capabilities.has(.changeLog), try historyOptions != nil || transaction.logBounds().last > 0 else { return nil }
        let recorder = HistoryRecorder(self, historyOptions ?? HistoryOptions(), version: try transaction.version)
        let changes = ChangeSet(schema, capacity: 64)
        try recorder.recordNothing(changes, transaction)
        try transaction.apply(changes)
        recorder.didApply()
        return recorder
    }

    /// Returns the list of the store's versions, completed by those of the stack's history.
    private func versionList(_ reader: any ReadTransaction) throws -> StoreVersions {
        var list = try StoreVersions(reader, schema.description, location: location)
        let known = try versions.ordered(configuration: configurationName)
        if let last = known.last { list.place(known.dropLast(), before: last) }
        return list
    }

    /// The error of a transaction that had to begin again and found another version.
    var interrupted: StoreError {
        StoreError(
            .conflict, "Another process wrote to \(location) meanwhile. Run the transaction again.", location: location,
            recovery: .retryable)
    }

    /// The open backend, for tests below the level of objects.
    package var backendForTests: any StorageBackend { backend }
}

/// Two stores are equal if they are the same instance. A store that is removed and added again is another instance.
extension PersistentStore: Hashable, Identifiable {
    public static func == (left: PersistentStore, right: PersistentStore) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension PersistentStore {
    /// The error that is thrown on access to a store that was removed from its stack.
    var removedError: StoreError {
        StoreError(
            .closed, "The store \(location) was removed from its stack. Add it again with addStore to use its objects.", location: location)
    }
}
