import CLMDB
import PolyStoreBackend
import PolyStoreKeyValue

/// The errors for result codes of LMDB's write transactions, in which a full map is not an error of the caller.
enum LMDBResult {
    /// - Throws: the error that ``failure(_:_:_:)`` returns.
    static func check(_ code: Int32, _ what: @autoclosure () -> String, _ path: String) throws {
        if let failure = failure(code, what(), path) { throw failure }
    }

    /// Returns `EngineOutOfRoom` if the map is too small, a `StoreError` for every other code, and `nil` for success.
    static func failure(_ code: Int32, _ what: @autoclosure () -> String, _ path: String) -> (any Error)? {
        if code == MDB_SUCCESS { return nil }
        return code == MDB_MAP_FULL ? EngineOutOfRoom() : StoreError(lmdb: code, what(), path: path)
    }
}
