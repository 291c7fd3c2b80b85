import PolyStoreBackend
import PolyStoreKeyValue

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension StoreConfiguration {
    /// A store in an LMDB file, made where there is none; its lock file lies beside it.
    ///
    ///     let store = StoreConfiguration.lmdb(file: "company.lmdb")
    ///
    /// - Parameters:
    ///   - file: The path; its folder must exist when the store is opened. A relative one starts at the current folder.
    ///   - options: The size of the map, time-outs and what a new file is made with.
    public static func lmdb(file: String, options: LMDBOptions = LMDBOptions()) -> StoreConfiguration {
        let path = FilePlace.resolve(file)
        return StoreConfiguration(engine: "lmdb", location: path) { request in
            try KeyValueBackend(EngineHandle.lmdb(path: path, options: options, isReadOnly: request.isReadOnly), request)
        }
    }

    /// A store in an LMDB file at a file URL.
    public static func lmdb(url: URL, options: LMDBOptions = LMDBOptions()) -> StoreConfiguration { lmdb(file: url.path, options: options) }
}

extension EngineHandle {
    /// The engine of a file, without the record layer.
    package static func lmdb(path: String, options: LMDBOptions, isReadOnly: Bool) throws -> EngineHandle {
        let place = FilePlace(path: path)
        try LMDBFile(place: place).prepare(isReadOnly: isReadOnly, mode: options.fileMode)
        return try shared("lmdb:\(try place.identity())", isReadOnly: isReadOnly) {
            try LMDBEngine(path: path, options: options, isReadOnly: isReadOnly)
        }
    }
}

extension StoreEngine {
    /// `lmdb:FILE`, with the options `mapSize` (a size), `growthTimeout` (milliseconds) and `mostReaders`.
    public static let lmdb = StoreEngine(name: "lmdb", options: ["mapSize", "growthTimeout", "mostReaders"]) { url in
        var options = LMDBOptions()
        if let size = try url.number("mapSize") { options.mapSize = size }
        if let timeout = try url.number("growthTimeout") { options.growthTimeout = timeout }
        if let readers = try url.number("mostReaders") { options.mostReaders = UInt32(clamping: readers) }
        return .lmdb(file: try url.path(), options: options)
    }
}
