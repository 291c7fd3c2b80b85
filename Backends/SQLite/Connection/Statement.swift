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
    /// The text of bound values; see ``bind(_:)-(ContiguousArray<Binding>)``.
    @exclusivity(unchecked) private var texts = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    init(_ handle: OpaquePointer, shape: QueryShape? = nil) {
        self.handle = handle
        self.shape = shape ?? QueryShape()
        reader = shape == nil ? nil : RowReader()
    }

    deinit { texts.deallocate() }

    func reset() { sqlite3_reset(handle) }

    /// Returns memory that is valid until the next call.
    func textMemory(_ size: Int) -> UnsafeMutableRawPointer? {
        if texts.count < size {
            texts.deallocate()
            texts = .allocate(byteCount: max(size, 2 * texts.count), alignment: 1)
        }
        return texts.baseAddress
    }
}
