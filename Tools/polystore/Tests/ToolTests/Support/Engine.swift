import Foundation
import PolyStore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStorePostgreSQL
import PolyStoreSQLite
import StoreTesting
import Testing

/// An engine whose stores the tool opens.
enum Engine: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite, lmdb, leveldb, postgresql

    var testDescription: String { rawValue }
    /// The engines whose stores are files.
    static let files: [Engine] = [.sqlite, .lmdb, .leveldb]
    /// Those on which a test can run; without a server of PostgreSQL the others.
    static let available = PostgreSQL.url == nil ? files : allCases

    /// Returns the URL of a store of the engine in a folder.
    func url(_ folder: TemporaryFolder, _ name: String = "library") -> String {
        guard self == .postgresql else { return "\(rawValue):\(folder.path)/\(name).\(rawValue)" }
        return PostgreSQL.url.map { "\($0)?schema=s\(folder.number)_\(name)" } ?? ""
    }

    /// Creates a store of the library.
    @discardableResult
    func makeLibrary(in folder: TemporaryFolder, _ name: String = "library") throws -> String {
        let url = url(folder, name)
        let stack = try DataStack(Library.schema, logger: SilentLogger())
        try stack.addStore(url: url, engines: StoreEngines([.sqlite, .lmdb, .levelDB, .postgreSQL]))
        try Library.fill(stack)
        try stack.closeAndWait()
        return url
    }
}
