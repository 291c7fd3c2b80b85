import PolyStoreBackend
import PolyStoreKeyValue

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension StoreConfiguration {
    /// A store in an LMDB file, which is created if it does not exist, with its lock file beside it.
    ///
    /// ```
    /// let store = StoreConfiguration.lmdb(file: "company.lmdb")
    /// ```
    ///
    /// - Parameters:
    ///   - file: The path. Its folder must exist when the store is opened. A relative path is resolved against the current directory.
    ///   - options: The map size, timeouts and the properties of a new file.
    public static func lmdb(file: String, options: LMDBOptions = LMDBOptions()) -> StoreConfiguration {
        let path = StorePath.resolve(file)
        let files = [path, path + "-lock"]
        let erase: @Sendable () throws -> Void = {
            for file in files { try StorePath(path: file).remove() }
            LMDBFile(storePath: StorePath(path: path)).removeMigrationFile()
        }
        let relocate: @Sendable (String) -> StoreConfiguration = { .lmdb(file: $0, options: options) }
        return StoreConfiguration(engine: "lmdb", location: path, files: files, erase: erase, relocate: relocate) { request in
            let backend = try KeyValueBackend(EngineHandle.lmdb(path: path, options: options, isReadOnly: request.isReadOnly), request)
            if !request.isReadOnly { LMDBFile(storePath: StorePath(path: path)).removeLeftovers(logger: request.logger) }
            return backend
        }.readOnly(options.isReadOnly)
    }

    /// A store in the program's default LMDB file: `NAME/NAME.lmdb` in the platform's folder for application data; see `DefaultLocation`.
    ///
    /// The folder is created if it does not exist.
    public static func lmdb(options: LMDBOptions = LMDBOptions()) -> StoreConfiguration {
        lmdb(file: DefaultLocation.path(extension: "lmdb"), options: options).creatingFolder()
    }

    /// A store in an LMDB file at a file URL.
    public static func lmdb(url: URL, options: LMDBOptions = LMDBOptions()) -> StoreConfiguration { lmdb(file: url.path, options: options) }
}

extension EngineHandle {
    /// Returns the engine of a file, without the record layer.
    package static func lmdb(path: String, options: LMDBOptions, isReadOnly: Bool) throws -> EngineHandle {
        let storePath = StorePath(path: path)
        try LMDBFile(storePath: storePath).prepare(isReadOnly: isReadOnly, mode: options.fileMode)
        while true {
            let identity = try storePath.identity()
            do {
                return try shared(LMDBEngine.registryName(identity), isReadOnly: isReadOnly) {
                    try LMDBEngine(path: path, identity: identity, options: options, isReadOnly: isReadOnly)
                }
            } catch is LMDBFile.Replaced {}
        }
    }
}

extension StoreEngine {
    /// The scheme `lmdb:FILE`, with the options `mapSize` (a size), `growthTimeout` (milliseconds) and `maximumReaders`.
    public static let lmdb = StoreEngine(name: "lmdb", options: ["mapSize", "growthTimeout", "maximumReaders"]) { url in
        var options = LMDBOptions()
        if let size = try url.number("mapSize") { options.mapSize = size }
        if let timeout = try url.number("growthTimeout") { options.growthTimeout = .milliseconds(timeout) }
        if let readers = try url.number("maximumReaders") { options.maximumReaders = UInt32(clamping: readers) }
        return .lmdb(file: try url.path(), options: options)
    }
}
