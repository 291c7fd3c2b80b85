import PolyStoreBackend

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension StoreConfiguration {
    /// A store in a SQLite database file, made where there is none. Any SQLite tool can read it.
    ///
    ///     let store = StoreConfiguration.sqlite(file: "company.sqlite")
    ///
    /// - Parameters:
    ///   - file: The path; its folder must exist when the store is opened. A relative one starts at the current folder.
    ///   - options: Cache sizes, time-outs and what a new file is made with.
    public static func sqlite(file: String, options: SQLiteOptions = SQLiteOptions()) -> StoreConfiguration {
        let path = FilePlace.resolve(file)
        return StoreConfiguration(engine: "sqlite", location: path) { request in
            try StoreOpener(path: path, options: options, request: request).open()
        }
    }

    /// A store in a SQLite database file at a file URL.
    public static func sqlite(url: URL, options: SQLiteOptions = SQLiteOptions()) -> StoreConfiguration {
        sqlite(file: url.path, options: options)
    }
}

extension StoreEngine {
    /// `sqlite:FILE`, with the options `busyTimeout` (milliseconds), `pageSize`, `readerCache` and `writerCache` (sizes).
    public static let sqlite = StoreEngine(name: "sqlite", options: ["busyTimeout", "pageSize", "readerCache", "writerCache"]) { url in
        var options = SQLiteOptions()
        if let timeout = try url.number("busyTimeout") { options.busyTimeout = timeout }
        if let size = try url.number("pageSize") { options.pageSize = size }
        if let size = try url.number("readerCache") { options.readerCacheKiB = size >> 10 }
        if let size = try url.number("writerCache") { options.writerCacheKiB = size >> 10 }
        return .sqlite(file: try url.path(), options: options)
    }
}
