import CSQLite
import PolyStoreBackend

extension Statement {
    /// Binds a value that SQLite copies.
    /// - Returns: SQLite's result code.
    func bind(_ index: Int32, _ value: Binding) -> Int32 {
        switch value {
        case .integer(let value): return sqlite3_bind_int64(handle, index, value)
        case .real(let value):
            if value.isNaN { return bind(index, .text(RowReader.nanText)) }
            return sqlite3_bind_double(handle, index, value)
        case .text(var value):
            return value.withUTF8 { bindText(index, UnsafeRawBufferPointer($0)) }
        case .textBytes(let value): return value.withUnsafeBytes { bindText(index, $0) }
        case .blob(let value):
            // The base address of an empty array may be nil, and SQLite binds null for it.
            if value.isEmpty { return sqlite3_bind_zeroblob(handle, index, 0) }
            return value.withUnsafeBytes {
                sqlite3_bind_blob64(handle, index, $0.baseAddress, UInt64($0.count), polystore_sqlite_transient())
            }
        }
    }

    private func bindText(_ index: Int32, _ bytes: UnsafeRawBufferPointer) -> Int32 {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return sqlite3_bind_text(handle, index, "", 0, nil) }
        return sqlite3_bind_text64(
            handle, index, start.assumingMemoryBound(to: CChar.self), UInt64(bytes.count), polystore_sqlite_transient(), UInt8(SQLITE_UTF8))
    }

    /// Returns the bytes of a text or blob column, which are valid until the next step.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        // Reading text as a blob returns its stored bytes without a search for the terminator.
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
    }
}
