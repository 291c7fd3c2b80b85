import PolyStoreBackend
import PolyStoreKeyValue

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension StoreConfiguration {
    /// A store in a LevelDB folder, which is created if it does not exist. One process at a time can open it.
    ///
    /// ```
    /// let store = StoreConfiguration.levelDB(directory: "company.leveldb")
    /// ```
    ///
    /// - Parameters:
    ///   - directory: The path. Its parent folder must exist when the store is opened. A relative path is resolved against the current directory.
    ///   - options: Buffer sizes and limits.
    public static func levelDB(directory: String, options: LevelDBOptions = LevelDBOptions()) -> StoreConfiguration {
        // `StorePath.resolve` removes a trailing slash only from the path of a folder that exists.
        var name = Substring(directory)
        while name.count > 1, name.hasSuffix("/") { name.removeLast() }
        let path = StorePath.resolve(String(name))
        let erase: @Sendable () throws -> Void = { try LevelDBFolder.erase(path) }
        let relocate: @Sendable (String) -> StoreConfiguration = { .levelDB(directory: $0, options: options) }
        return StoreConfiguration(engine: "leveldb", location: path, files: [path], erase: erase, relocate: relocate) { request in
            guard !request.isReadOnly || request.opensEngineForWriting else {
                throw StoreError(
                    .unsupported,
                    "Cannot open '\(path)' read-only: LevelDB does not support read-only stores. Open it for writing, or use SQLite or LMDB.",
                    location: path)
            }
            if request.isReadOnly {
                let database = StorePath(path: path + "/CURRENT")
                guard try database.kind() != .absent else {
                    throw StoreError(.notAStore, "\(path) contains no LevelDB database; it was left as it is.", location: path)
                }
            }
            let backend = try KeyValueBackend(EngineHandle.levelDB(path: path, options: options), request)
            StorePath(path: path).removeLeftovers(logger: request.logger)
            return backend
        }
    }

    /// A store in the program's default LevelDB folder: `NAME/NAME.leveldb` in the platform's folder for application data; see `DefaultLocation`.
    ///
    /// The parent folder is created if it does not exist.
    public static func levelDB(options: LevelDBOptions = LevelDBOptions()) -> StoreConfiguration {
        levelDB(directory: DefaultLocation.path(extension: "leveldb"), options: options).creatingFolder()
    }

    /// A store in a LevelDB folder at a file URL.
    public static func levelDB(url: URL, options: LevelDBOptions = LevelDBOptions()) -> StoreConfiguration {
        levelDB(directory: url.path, options: options)
    }
}

extension EngineHandle {
    /// Returns the engine of a folder, without the record layer.
    package static func levelDB(path: String, options: LevelDBOptions) throws -> EngineHandle {
        try LevelDBFolder(storePath: StorePath(path: path)).prepare(mode: options.folderMode)
        return try shared("leveldb:\(try StorePath(path: path).identity())", isReadOnly: false) {
            try LevelDBEngine(path: path, options: options)
        }
    }
}

extension StoreEngine {
    /// The scheme `leveldb:FOLDER`, with the options `cacheSize`, `writeBufferSize` and `maximumTransactionSize` (sizes).
    public static let levelDB = StoreEngine(name: "leveldb", options: ["cacheSize", "writeBufferSize", "maximumTransactionSize"]) { url in
        var options = LevelDBOptions()
        if let size = try url.number("cacheSize") { options.cacheSize = size }
        if let size = try url.number("writeBufferSize") { options.writeBufferSize = size }
        if let size = try url.number("maximumTransactionSize") { options.maximumTransactionSize = size }
        return .levelDB(directory: try url.path(), options: options)
    }
}
