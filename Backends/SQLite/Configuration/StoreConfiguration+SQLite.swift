import PolyStoreBackend

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension StoreConfiguration {
    /// A store in a SQLite database file, which is created if it does not exist. Any SQLite tool can read it.
    ///
    /// ```
    /// let store = StoreConfiguration.sqlite(file: "company.sqlite")
    /// ```
    ///
    /// - Parameters:
    ///   - file: The path. Its folder must exist when the store is opened. A relative path is resolved against the current directory.
    ///   - options: Cache sizes, timeouts and the properties of a new file.
    public static func sqlite(file: String, options: SQLiteOptions = SQLiteOptions()) -> StoreConfiguration {
        let path = StorePath.resolve(file)
        let files = [path, path + "-wal", path + "-shm", path + "-journal"]
        let relocate: @Sendable (String) -> StoreConfiguration = { .sqlite(file: $0, options: options) }
        return StoreConfiguration(engine: "sqlite", location: path, files: files, relocate: relocate) { request in
            try StoreOpener(path: path, options: options, request: request).open()
        }.readOnly(options.isReadOnly)
    }

    /// A store in the program's default SQLite database file: `NAME/NAME.sqlite` in the platform's folder for application data; see `DefaultLocation`.
    ///
    /// The folder is created if it does not exist.
    public static func sqlite(options: SQLiteOptions = SQLiteOptions()) -> StoreConfiguration {
        sqlite(file: DefaultLocation.path(extension: "sqlite"), options: options).creatingFolder()
    }

    /// A store in a SQLite database file at a file URL.
    public static func sqlite(url: URL, options: SQLiteOptions = SQLiteOptions()) -> StoreConfiguration {
        sqlite(file: url.path, options: options)
    }
}

extension StoreEngine {
    /// The scheme `sqlite:FILE`, with the options `busyTimeout` (milliseconds), `maximumIdleReaders`, `pageSize`, `readerCache` and `writerCache` (sizes).
    public static let sqlite = StoreEngine(
        name: "sqlite", options: ["busyTimeout", "maximumIdleReaders", "pageSize", "readerCache", "writerCache"]
    ) { url in
        var options = SQLiteOptions()
        if let timeout = try url.number("busyTimeout") { options.busyTimeout = .milliseconds(timeout) }
        if let count = try url.number("maximumIdleReaders") { options.maximumIdleReaders = count }
        if let size = try url.number("pageSize") { options.pageSize = size }
        if let size = try url.number("readerCache") { options.readerCacheKiB = size >> 10 }
        if let size = try url.number("writerCache") { options.writerCacheKiB = size >> 10 }
        return .sqlite(file: try url.path(), options: options)
    }
}
