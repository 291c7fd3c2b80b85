import PolyStoreBackend
import Synchronization

/// A store of a stack: an open backend with the entities of one configuration.
public final class PersistentStore: Sendable {
    /// The index of the store in its stack, from 0, in the order in which stores were added.
    let index: Int
    /// The name of the configuration; nil for the default configuration.
    public let configurationName: String?
    /// The configuration that the store was opened with.
    public let configuration: StoreConfiguration
    package let backend: any StorageBackend
    let schema: ResolvedSchema
    /// The entity index of the first entity in the stack. Those of the others follow in the order of the schema.
    let firstEntityIndex: Int32
    var entityIndexes: Range<Int32> { firstEntityIndex..<firstEntityIndex + Int32(schema.entities.count) }
    /// The reserved row ids that have not been assigned, by entity.
    let sequences: Protected<[ClosedRange<Int64>?]>
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
    private let versions: SchemaHistory
    /// A Boolean value that indicates whether the next commit completes the list of the store's versions.
    let recordsVersions: Atomic<Bool>

    init(
        index: Int, firstEntityIndex: Int32, configurationName: String?, configuration: StoreConfiguration, backend: any StorageBackend,
        schema: ResolvedSchema, history: HistoryOptions? = nil, versions: SchemaHistory
    ) {
        self.versions = versions
        recordsVersions = Atomic(StoreVersions.isKept(by: backend.capabilities))
        historyOptions = history
        self.index = index
        self.firstEntityIndex = firstEntityIndex
        self.configurationName = configurationName
        self.configuration = configuration
        self.backend = backend
        self.schema = schema
        names = configuration.names
        writeAccess = StoreWriteAccess.of(configuration)
        sequences = Protected(Array(repeating: nil, count: schema.entities.count))
    }

    /// Returns whether a configuration has the same engine and the same file or folder, which can have several names.
    /// - Parameter names: The names of the configuration.
    func isSame(as other: StoreConfiguration, _ others: Set<StoreName>) -> Bool {
        guard configuration.isShared, other.isShared, !names.isDisjoint(with: others) else { return false }
        guard !others.contains(StoreName(url)) else { return true }
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

    /// Begins or completes the list of the store's versions, in the first commit of the stack: opening a store does not wait for writers, and a store without commits
    /// has no data that an earlier version of the application could remove.
    func recordVersions(_ transaction: any WriteTransaction) throws {
        var list = try StoreVersions(transaction, schema.description, location: location)
        let known = try versions.ordered(configuration: configurationName)
        if let last = known.last { list.place(known.dropLast(), before: last) }
        try list.write(transaction, schema)
    }

    /// The error of a transaction that had to begin again and found another version.
    var interrupted: StoreError {
        StoreError(.conflict, "Another process wrote to \(location) meanwhile. Run the transaction again.", location: location)
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
