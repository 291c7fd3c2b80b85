public import PolyStoreBackend
import PolyStoreKernel

extension PersistentStore {
    /// The schema of the store: for a stack without classes the one that the store keeps.
    public var schemaDescription: SchemaDescription { schema.description }
}
