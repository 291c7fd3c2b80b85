import CLMDB
import EngineTestSupport
import Foundation
import PolyStoreBackend
import Testing

@testable import PolyStoreKeyValue
@testable import PolyStoreLMDB

/// Passes a value between threads on purpose.
struct Transferred<Value>: @unchecked Sendable {  // each test uses the value on one thread at a time
    let value: Value
}
