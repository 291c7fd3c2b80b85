import CSQLite

/// A prepared statement. Its connection finalizes it; nobody else keeps using it after that, as every use belongs to a
/// transaction and the connection outlives that.
final class Statement {
    let handle: OpaquePointer
    /// What a query was made from; empty for statements that are kept under a name.
    let shape: QueryShape
    /// Where a query's rows are copied to; kept with it to save making the room each time.
    let reader: RowReader?
    /// The position among the connection's statements in use; -1 while idle.
    var useIndex = -1

    init(_ handle: OpaquePointer, shape: QueryShape? = nil) {
        self.handle = handle
        self.shape = shape ?? QueryShape()
        reader = shape == nil ? nil : RowReader()
    }

    func reset() { sqlite3_reset(handle) }
}
