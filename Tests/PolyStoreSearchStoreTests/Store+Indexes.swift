import EngineTestSupport
import PolyStoreBackend

@testable import PolyStoreKeyValue
@testable import PolyStoreSQLite

extension Store {
    /// Searches of some forms, for stores with many objects.
    static let fewSearches = ["lazy", "\"quick brown\" OR ru*"]

    /// Waits until the indexes that the opening has begun to build are complete.
    func waitForIndexes() {
        (backend as? KeyValueBackend)?.waitForBackgroundWork()
        (backend as? SQLiteBackend)?.pool.indexBuilder?.wait()
    }
}
