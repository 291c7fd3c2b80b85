import PolyStoreBackend
import PolyStoreKeyValue

extension StoreConfiguration {
    /// A store in one file, for data that fits into memory. One process at a time can open it.
    public static func fileStore(file: String) -> StoreConfiguration {
        let path = StorePath.resolve(file)
        return StoreConfiguration(engine: "filestore", location: path) { request in
            guard !request.isReadOnly else {
                throw StoreError(
                    .unsupported, "\(path) cannot be opened for reading only. Open it for writing, and only read.", location: path)
            }
            return try KeyValueBackend(EngineHandle.fileStore(path, request.logger), request)
        }
    }
}

extension EngineHandle {
    /// Returns the engine of a file, and opens it if this process has not opened it yet.
    static func fileStore(_ path: String, _ logger: any StoreLogger) throws -> EngineHandle {
        // Compaction replaces the file, so its path stays the same and its inode does not.
        try shared("filestore:\(path)", isReadOnly: false) { try FileEngine(StorePath(path: path), logger) }
    }
}
