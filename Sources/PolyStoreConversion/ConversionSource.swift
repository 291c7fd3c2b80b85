import PolyStoreBackend
import PolyStoreMigration

/// The store that a conversion reads, opened read-only with the schema that it keeps.
final class ConversionSource {
    let backend: any StorageBackend
    let schema: ResolvedSchema
    let location: String
    /// A Boolean value that indicates whether the store is closed with the conversion.
    private let isOwned: Bool

    /// Opens a store.
    /// - Throws: `io` if the store does not exist, `busy` if an engine of one process is open in another one, and the other errors of opening.
    init(_ store: StoreConfiguration, _ logger: any StoreLogger) throws {
        var store = store
        (store.resetsOnFailure, store.resetsOnModelMismatch) = (false, false)
        guard store.isShared else {
            throw StoreError(
                .misuse, "\(store) is a store in memory that begins empty: pass the open store instead of its configuration.",
                location: store.location)
        }
        location = store.location
        do {
            let kept = try store.keptSchema(logger: logger)
            store.isReadOnly = true
            schema = try ResolvedSchema(kept.schema)
            backend = try store.open(schema: schema, configurationName: kept.configurationName, logger: logger)
        } catch let error as StoreError where error.code == .busy && store.opensEngineForWriting {
            throw StoreError(
                .busy,
                "\(store) cannot be read while another process has it open, because its engine serves one process at a time. Close it there, or convert it in that process.",
                location: store.location, underlying: error.message)
        }
        isOwned = true
    }

    /// Reads an open store, which stays open.
    init(_ backend: any StorageBackend, _ location: String) throws {
        self.backend = backend
        self.location = location
        schema = try ResolvedSchema(backend.metadata.schema)
        isOwned = false
    }

    /// Closes the store if the conversion has opened it. Nothing was written, so an error has no consequence.
    func close() { if isOwned { try? backend.close() } }
}
