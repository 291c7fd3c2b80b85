import PolyStoreBackend
import PolyStoreKeyValue

extension StoreConfiguration {
    /// A store in one file, made where there is none. While it is open, by one process at a time, all of it is in memory too.
    /// - Parameter file: the path; its folder must exist when the store is opened. A relative one starts at the current folder.
    public static func fileStore(file: String) -> StoreConfiguration {
        let path = FilePlace.resolve(file)
        return StoreConfiguration(engine: "filestore", location: path) { request in
            guard !request.isReadOnly else {
                throw StoreError(.unsupported, "\(path) cannot be opened for reading only. Open it for writing, and only read.", url: path)
            }
            // Compaction replaces the file, so its path stays the same and its inode does not.
            let handle = try EngineHandle.shared("filestore:\(path)", isReadOnly: false) {
                try FileEngine(FilePlace(path: path), request.logger)
            }
            return try KeyValueBackend(handle, request)
        }
    }
}
