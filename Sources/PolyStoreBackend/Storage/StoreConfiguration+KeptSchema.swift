extension StoreConfiguration {
    /// Returns the schema that the store keeps, and the name of its configuration. The store is not changed; an engine that cannot open a store read-only is opened for writing from now on.
    /// - Throws: `io` if there is no store, `notAStore`, `corrupt`, `incompatibleSchema` for a store of a newer release, `busy`.
    package mutating func keptSchema(_ logger: any StoreLogger) throws -> (schema: SchemaDescription, configuration: String?) {
        do { return try keptSchemaOnce(logger) } catch let error as StoreError
            where error.code == .unsupported && !opensEngineForWriting && isExistingFile
        {
            opensEngineForWriting = true
            return try keptSchemaOnce(logger)
        }
    }

    private var isExistingFile: Bool { remote == nil && ((try? StorePath(path: location).kind()) ?? .absent) != .absent }

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
