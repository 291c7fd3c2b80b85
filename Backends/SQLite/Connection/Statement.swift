import CSQLite

/// A prepared statement. Its connection finalizes it; nobody else keeps using it after that, as every use belongs to a
/// transaction and the connection outlives that.
final class Statement {
    let handle: OpaquePointer
    /// What a query was made from; empty for statements that are kept under a name.
    let shape: QueryShape
    /// The position among the connection's statements in use; -1 while idle.
    var useIndex = -1

    init(_ handle: OpaquePointer, shape: QueryShape = QueryShape()) {
        self.handle = handle
        self.shape = shape
    }

    func reset() { sqlite3_reset(handle) }
}
