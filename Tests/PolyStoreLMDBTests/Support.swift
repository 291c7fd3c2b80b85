import CLMDB
import EngineTestSupport
import Foundation
import PolyStoreBackend
import Testing

@testable import PolyStoreKeyValue
@testable import PolyStoreLMDB

/// Opens a notes store in a file.
func notes(_ file: String, mapSize: Int? = nil, change: (inout LMDBOptions) -> Void = { _ in }) throws -> Store {
    var options = LMDBOptions()
    if let mapSize { options.mapSize = mapSize }
    change(&options)
    return try Store(.lmdb(file: file, options: options), try Notes.schema())
}

/// Returns the engine of a store.
func engine(_ store: Store) throws -> LMDBEngine {
    try #require((store.backend as? KeyValueBackend)?.handle.engine as? LMDBEngine)
}

extension LMDBEngine {
    var mapSize: Int {
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        return info.me_mapsize
    }
}

/// Runs a closure on another thread, and waits for it.
func onAnotherThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result {
    let done = Concurrent(body)
    return done.wait()
}
