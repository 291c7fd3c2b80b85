import PolyStoreBackend
import PolyStoreKernel
import PolyStoreMigration

extension DataStack {
    /// Opens a store with the schema that it keeps, so that its objects are read by the names of entities and properties; see ``DynamicObject``.
    ///
    /// Another program can have the store open, with its classes; LevelDB permits one process only. The view, monitors of commits, transactions and the history work as in any other stack.
    /// - Parameters:
    ///   - store: The store. It must exist.
    ///   - isWritable: Whether transactions can change it.
    ///   - history: The history to record for commits of this stack; nil records none. Pass one if the application records its history.
    ///   - logger: The logger that receives the messages of the stack.
    /// - Throws: `io` if the store does not exist, `notAStore`, `corrupt`, `incompatibleSchema` for a store of a newer release, and the other errors of
    ///   ``addStore(_:configuration:history:file:line:)``.
    public convenience init(
        opening store: StoreConfiguration, forWriting isWritable: Bool = false, history: HistoryOptions? = nil,
        logger: any StoreLogger = StandardErrorLogger()
    ) throws {
        var store = store
        store.resetsOnFailure = false
        let kept = try store.keptSchema(logger: logger)
        try self.init(Schema(kept.schema, configuration: kept.configurationName), logger: logger)
        store.isReadOnly = !isWritable
        try addStore(store, configuration: kept.configurationName, history: history)
        let rules = uncheckedRules
        guard isWritable, !rules.isEmpty else { return }
        core.logger.write(
            .info,
            "\(store.location) is opened for writing without classes, so their validate() is not run, and: \(rules.map(\.description).joined(separator: "; "))."
        )
    }

    /// Opens a store given by a URL with the schema that it keeps: `try DataStack(opening: "lmdb:company.lmdb")`; see ``init(opening:forWriting:history:logger:)-(StoreConfiguration,_,_,_)``.
    /// - Parameter engines: The available engines; by default those registered with `StoreEngines.register(_:)`.
    public convenience init(
        opening url: String, engines: StoreEngines = .registered, forWriting isWritable: Bool = false, history: HistoryOptions? = nil,
        logger: any StoreLogger = StandardErrorLogger()
    ) throws {
        try self.init(opening: engines.configuration(url), forWriting: isWritable, history: history, logger: logger)
    }
}
