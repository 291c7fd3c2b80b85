package import PolyStoreBackend
internal import PolyStoreLMDB
internal import PolyStoreLevelDB
internal import PolyStoreMemory
internal import PolyStoreSQLite
internal import Testing

/// A built-in backend.
package enum Backend: String, CaseIterable, Codable, Sendable, CustomStringConvertible, CustomTestStringConvertible {
    case memory, sqlite, lmdb
    case levelDB = "leveldb"

    /// The backends whose stores outlive the process.
    package static let persistent = allCases.filter { $0 != .memory }

    /// The backends whose stores several processes can have open.
    package static let shared: [Backend] = [.sqlite, .lmdb]

    /// The backends that a test of the object layer runs on: memory and SQLite, and in the thorough ring all.
    ///
    /// The memory backend, LMDB and LevelDB share the record layer, which is what the object layer calls. A test that neither reopens a store nor depends on
    /// its files, on the durability of a commit, on another process or on the locks and snapshots of an engine has the same result on the three of them.
    /// Other tests run on `allCases` or ``persistent``.
    package static let forObjectLayer: [Backend] = Ring.current == .thorough ? allCases : [.memory, .sqlite]

    package var description: String { rawValue }
    package var testDescription: String { rawValue }

    /// Returns the configuration of a store in a folder.
    /// - Parameter name: The name of the store without the extension.
    package func store(in folder: Folder, _ name: String = "test") -> StoreConfiguration {
        store(at: folder.file("\(name).\(rawValue)"))
    }

    /// Returns the configuration of the store at a path.
    package func store(at path: String) -> StoreConfiguration {
        switch self {
        case .memory: .inMemory()
        case .sqlite: .sqlite(file: path)
        case .lmdb: .lmdb(file: path)
        case .levelDB: .levelDB(directory: path)
        }
    }
}
