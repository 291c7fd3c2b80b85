import PolyStoreBackend
import PolyStoreKernel

extension Schema {
    /// Returns the source of classes for the schema; see ``ModelSource``.
    /// - Throws: `invalidSchema`.
    public func modelSource(_ options: ModelSource.Options = ModelSource.Options()) throws -> ModelSource {
        try ModelSource(description(of: roots(of: models)), options: options)
    }
}

extension PersistentStore {
    /// Returns the source of classes for the schema of the store. In a stack that is opened without classes this is the schema that the store keeps.
    /// - Throws: `invalidSchema`.
    public func modelSource(_ options: ModelSource.Options = ModelSource.Options()) throws -> ModelSource {
        try ModelSource(schema.description, options: options)
    }
}
