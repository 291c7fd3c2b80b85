import PolyStoreBackend
import PolyStoreKernel

/// The schema that a store keeps, and the configuration that the store was created with.
package struct KeptSchema {
    package let schema: SchemaDescription
    package let configurationName: String?
}

extension StoreConfiguration {
    /// Returns the schema that the store keeps, whatever its data. The store is not changed; an engine that cannot open a store read-only is opened for writing from now on.
    /// - Parameter name: The configuration that the store must have, `.some(nil)` for the default one; `nil` accepts any.
    /// - Throws: `differentStoreAtURL` for another configuration, and errors of opening the store.
    package mutating func keptSchema(ofConfiguration name: String?? = nil, logger: any StoreLogger) throws -> KeptSchema {
        do { return try keptSchemaOnce(name, logger) } catch let error as StoreError
            where error.code == .unsupported && !opensEngineForWriting
        {
            guard try exists() else { throw error }
            opensEngineForWriting = true
            return try keptSchemaOnce(name, logger)
        }
    }

    private func keptSchemaOnce(_ name: String??, _ logger: any StoreLogger) throws -> KeptSchema {
        var store = self
        (store.isReadOnly, store.resetsOnModelMismatch) = (true, false)
        // A store answers a schema without entities with its own.
        let none = try ResolvedSchema(SchemaDescription(name: "", entities: []))
        func look(_ configuration: String?) throws -> KeptSchema {
            do {
                let backend = try store.open(
                    schema: none, configurationName: configuration, logger: logger, keepsInterruptedMigration: true)
                let schema = backend.metadata.schema
                try backend.close()
                return KeptSchema(schema: schema, configurationName: configuration)
            } catch let error as StoreError where error.code == .migrationRequired {
                guard let schema = error.storedSchema else { throw error }
                return KeptSchema(schema: schema, configurationName: configuration)
            }
        }
        do { return try look(name ?? nil) } catch let error as StoreError where error.code == .differentStoreAtURL && name == nil {
            guard let configuration = error.storedConfiguration else { throw error }
            return try look(configuration)
        }
    }
}

extension SchemaDescription {
    /// The name and the entities by name, without the values that expressions gave when the description was made.
    var declarations: SchemaDescription {
        SchemaDescription(
            name: name, entities: entities.map(\.withoutComputedValues).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) })
    }
}
