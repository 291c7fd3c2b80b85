import PolyStoreBackend
import PolyStoreCore

/// A store that the browser shows, opened with the schema that it keeps.
///
/// Every answer is read from one snapshot. A read ends with an error when its task is cancelled or its time limit ends.
package final class BrowserStore: Sendable {
    /// The store for a reader: its URL without a password, or a path.
    package let name: String
    /// A Boolean value that indicates whether transactions can change the store.
    package let isWritable: Bool
    /// A Boolean value that indicates whether changes of the browser are recorded in the history.
    package let recordsHistory: Bool
    /// The greatest time of a read or a change for which the caller gives no other.
    package let timeLimit: Duration
    package let stack: DataStack
    package let store: PersistentStore
    /// A Boolean value that indicates whether a server has the store.
    let isOnServer: Bool
    /// The schema that the store keeps.
    package let schema: SchemaDescription
    /// The entities and subentities, by name.
    private let models: [String: EntityModel]
    /// The names of all entities and subentities, in order of declaration; a subentity follows its superentity.
    package let entityNames: [String]
    /// The relationships that lead to each entity and have no inverse there, by the name of the entity that they lead to.
    let incoming: [String: [IncomingLink]]

    /// Opens a store that exists.
    /// - Parameters:
    ///   - configuration: The place of the store.
    ///   - name: The store for a reader; nil for the URL without a password.
    ///   - isWritable: Whether transactions can change it.
    ///   - timeLimit: The greatest time of a read or a change for which the caller gives no other.
    ///   - history: The history that changes of the browser get; nil records none.
    ///   - logger: The logger that receives the messages of the library.
    /// - Throws: The errors of `DataStack.init(opening:forWriting:history:logger:)`.
    package init(
        opening configuration: StoreConfiguration, name: String? = nil, forWriting isWritable: Bool = false,
        timeLimit: Duration = BrowserStore.defaultTimeLimit, history: HistoryOptions? = nil,
        logger: any StoreLogger = StandardErrorLogger(minimum: .error)
    ) throws {
        stack = try DataStack(opening: configuration, forWriting: isWritable, history: history, logger: logger)
        guard let store = stack.stores.first else {
            throw StoreError(.storeNotFound, "\(name ?? configuration.url) cannot be opened.")
        }
        (self.store, self.isWritable, recordsHistory, self.timeLimit) = (store, isWritable, history != nil, timeLimit)
        let url = try? StoreURL(configuration.url)
        self.name = name ?? url?.description ?? configuration.location
        isOnServer = url?.server != nil
        schema = store.schemaDescription
        let models = schema.entities.flatMap { EntityModel.all(of: $0, in: store.schemaDescription) }
        entityNames = models.map(\.name)
        self.models = Dictionary(models.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        incoming = IncomingLink.all(in: store.schemaDescription)
    }

    /// Returns an entity or subentity.
    /// - Throws: `storeNotFound` with the names that there are.
    package func model(_ name: String) throws -> EntityModel {
        if let model = models[name] { return model }
        let known = entityNames.prefix(20).joined(separator: ", ") + (entityNames.count > 20 ? ", …" : "")
        throw StoreError(
            .storeNotFound,
            "The store has no entity \"\(name)\"; it has \(entityNames.isEmpty ? "none at all" : known).", entity: name)
    }

    /// All entities and subentities, in order of declaration.
    package var allModels: [EntityModel] { entityNames.compactMap { models[$0] } }

    /// Closes the store. Reads that still run end with an error.
    package func close() async throws { try await stack.close(evenIfInUse: true) }

    /// The time limit of a store that is opened without another.
    package static let defaultTimeLimit = Duration.seconds(30)

    /// Reads one snapshot on another thread. The read ends with an error when the task is cancelled or the time limit of the store ends.
    package func reading<T: Sendable>(_ body: @escaping @Sendable (SnapshotContext) throws -> T) async throws -> T {
        try await reading(timeLimit: timeLimit, body)
    }

    /// Reads one snapshot on another thread. The read ends with an error when the task is cancelled or the time ends.
    /// - Parameter timeLimit: The greatest time; nil for no limit.
    package func reading<T: Sendable>(
        timeLimit: Duration?, _ body: @escaping @Sendable (SnapshotContext) throws -> T
    ) async throws -> T { try await stack.read(timeLimit: timeLimit, body) }
}
