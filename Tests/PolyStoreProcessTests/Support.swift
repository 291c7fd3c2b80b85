import EngineTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreSQLite

/// The engines that keep files.
enum Engine: String, CaseIterable, Sendable, CustomStringConvertible {
    case sqlite, lmdb, leveldb

    var description: String { rawValue }

    /// A Boolean value that indicates whether several processes can have a store open.
    var servesProcesses: Bool { self != .leveldb }

    func configuration(_ path: String) -> StoreConfiguration {
        switch self {
        case .sqlite: .sqlite(file: path)
        case .lmdb: .lmdb(file: path)
        case .leveldb: .levelDB(directory: path)
        }
    }

    func notes(_ path: String, _ entity: String = "Note", change: (StoreConfiguration) -> StoreConfiguration = { $0 }) throws -> Store {
        try Store(change(configuration(path)), try Notes.schema(entity))
    }
}

extension Store {
    /// Inserts one object in a separate commit.
    func add(_ entity: String, _ id: Int64, _ durability: Durability = .full) throws {
        try write(durability) { try $0.insert(entity, id, Notes.values(id, size: 100)) }
    }
}
