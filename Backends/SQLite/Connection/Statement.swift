import CSQLite

/// A prepared statement. Its connection finalizes it; transactions, which are the only users, never outlive the connection.
final class Statement {
    let handle: OpaquePointer
    /// The shape of the query; empty for statements that are cached by text.
    let shape: QueryShape
    /// The reader of the query's rows, kept with the statement to reuse its memory.
    let reader: RowReader?
    /// The index in the connection's list of statements in use; -1 while idle.
    var useIndex = -1

    init(_ handle: OpaquePointer, shape: QueryShape? = nil) {
        self.handle = handle
        self.shape = shape ?? QueryShape()
        reader = shape == nil ? nil : RowReader()
    }

    func reset() { sqlite3_reset(handle) }
}
