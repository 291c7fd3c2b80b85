import Foundation
import PolyStoreBackend
import PolyStoreKernel

extension DataStack {
    /// Opens a store with the schema that it keeps, so that its objects are read by the names of entities and properties; see ``DynamicObject``.
    ///
    /// Another program can have the store open, with its classes; LevelDB permits one process only. The view, monitors of commits, transactions and the history work as in any other stack.
    /// - Parameters:
    ///   - store: The store. It must exist.
    ///   - isWritable: Whether transactions can change it.
    ///   - history: The history to record for commits of this stack; nil records none. Pass one if the application records its history.
    ///   - logger: The logger that receives the messages of the stack.
    /// - Throws: `io` if there is no store, `notAStore`, `corrupt`, `incompatibleSchema` for a store of a newer release, and the other errors of
    ///   ``addStore(_:configuration:history:file:line:)``.
    public convenience init(
        opening store: StoreConfiguration, forWriting isWritable: Bool = false, history: HistoryOptions? = nil,
        logger: any StoreLogger = StandardErrorLogger()
    ) throws {
        var store = store
        let kept = try store.keptSchema(logger)
        try self.init(Schema(kept.schema, configuration: kept.configuration), logger: logger)
        store.isReadOnly = !isWritable
        try addStore(store, configuration: kept.configuration, history: history)
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

extension Schema {
    /// Creates a schema of entities without classes.
    /// - Throws: `invalidSchema`.
    package init(_ description: SchemaDescription, configuration: String? = nil) throws {
        let types = try KnownEntities.types(of: description)
        self.init(description.name, types, configurations: configuration.map { [$0: types] } ?? [:])
    }
}

extension StoreConfiguration {
    /// Returns the schema that the store keeps, and the name of its configuration. The store is not changed; an engine that cannot open a store read-only is opened for writing from now on.
    fileprivate mutating func keptSchema(_ logger: any StoreLogger) throws -> (schema: SchemaDescription, configuration: String?) {
        do { return try keptSchemaOnce(logger) } catch let error as StoreError
            where error.code == .unsupported && !opensEngineForWriting && FileManager.default.fileExists(atPath: location)
        {
            opensEngineForWriting = true
            return try keptSchemaOnce(logger)
        }
    }

    private func keptSchemaOnce(_ logger: any StoreLogger) throws -> (schema: SchemaDescription, configuration: String?) {
        var store = self
        (store.isReadOnly, store.resetsOnModelMismatch, store.resetsOnFailure) = (true, false, false)
        let none = try ResolvedSchema(SchemaDescription(name: "", entities: []))
        func look(_ configuration: String?) throws -> (schema: SchemaDescription, configuration: String?) {
            do {
                let backend = try store.open(
                    schema: none, configurationName: configuration, logger: logger, keepsInterruptedMigration: true)
                let schema = backend.metadata.schema
                try backend.close()
                return (schema, configuration)
            } catch let error as StoreError where error.code == .migrationRequired {
                guard let schema = error.storedSchema else { throw error }
                return (schema, configuration)
            }
        }
        do { return try look(nil) } catch let error as StoreError where error.code == .differentStoreAtURL {
            guard let configuration = error.storedConfiguration else { throw error }
            return try look(configuration)
        }
    }
}
