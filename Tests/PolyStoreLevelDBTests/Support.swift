import EngineTestSupport
import Foundation
import PolyStoreBackend
import Testing

@testable import PolyStoreKeyValue
@testable import PolyStoreLevelDB

/// Opens a notes store in a LevelDB folder.
func notes(_ folder: String, change: (inout LevelDBOptions) -> Void = { _ in }) throws -> Store {
    var options = LevelDBOptions()
    change(&options)
    return try Store(.levelDB(directory: folder, options: options), try Notes.schema())
}

/// Returns the engine of a store.
func engine(_ store: Store) throws -> LevelDBEngine {
    try #require((store.backend as? KeyValueBackend)?.handle.engine as? LevelDBEngine)
}
