import BrowserData
import Foundation
import PolyStore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStorePostgreSQL
import PolyStoreSQLite
import StoreTesting
import Testing

/// An engine whose stores the browser shows.
enum Engine: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite, lmdb, leveldb, postgresql

    var testDescription: String { rawValue }
    /// Those on which a test can run; without a server of PostgreSQL the others.
    static let available = PostgreSQL.url == nil ? [.sqlite, .lmdb, .leveldb] : allCases
    static let all = StoreEngines([.sqlite, .lmdb, .levelDB, .postgreSQL])

    /// Creates a store with classes, and opens it as the browser does.
    func open(
        _ schema: Schema, in folder: TemporaryFolder, forWriting isWritable: Bool = false, _ fill: (DataStack) throws -> Void
    ) throws -> BrowserStore {
        let name = "store"
        let url =
            self == .postgresql
            ? "\(PostgreSQL.url ?? "")?schema=b\(folder.number)_\(name)" : "\(rawValue):\(folder.path)/\(name).\(rawValue)"
        let stack = try DataStack(schema, logger: SilentLogger())
        try stack.addStore(url: url, engines: Self.all)
        try fill(stack)
        try stack.closeAndWait()
        return try BrowserStore(opening: Self.all.configuration(url), name: name, forWriting: isWritable, logger: SilentLogger())
    }
}
