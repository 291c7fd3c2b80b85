import EngineTestSupport
import Foundation
import PolyStoreBackend
import Testing

@testable import PolyStoreKeyValue
@testable import PolyStoreLevelDB

/// A notes store in a folder of LevelDB's.
func notes(_ folder: String, change: (inout LevelDBOptions) -> Void = { _ in }) throws -> Store {
    var options = LevelDBOptions()
    change(&options)
    return try Store(.levelDB(directory: folder, options: options), try Notes.schema())
}

/// The engine under a store.
func engine(_ store: Store) throws -> LevelDBEngine {
    try #require((store.backend as? KeyValueBackend)?.handle.engine as? LevelDBEngine)
}
