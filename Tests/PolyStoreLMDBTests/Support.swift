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

/// A closure that runs on another thread.
final class Concurrent<Result: Sendable>: @unchecked Sendable {  // the result is written before the semaphore is signalled, and read after
    private let end = DispatchSemaphore(value: 0)
    private var result: Result?

    init(_ body: @escaping @Sendable () -> Result) {
        Thread { [self] in
            result = body()
            end.signal()
        }.start()
    }

    func wait() -> Result {
        end.wait()
        // Taken, so that the thread does not retain it.
        guard let result = result.take() else { fatalError("The thread has signalled without a result.") }
        return result
    }

    /// Returns whether the closure ends within a time; for closures that must still be running.
    func hasEnded(within milliseconds: Int) -> Bool {
        guard end.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else { return false }
        end.signal()
        return true
    }
}

/// Passes a value between threads on purpose.
struct Handed<Value>: @unchecked Sendable {  // each test uses the value on one thread at a time
    let value: Value
}
