import CSQLite
import PolyStoreBackend

extension Statement {
    /// The number of values from which the texts are stored with the statement, and the greatest size of these texts in bytes.
    private static let fewValues = 8, mostTextBytes = 1 << 18

    /// Binds the values of all parameters.
    ///
    /// SQLite copies each text into memory of its own, which is most of the cost of binding a long list. The texts of a list are therefore stored together in
    /// memory of the statement.
    /// - Returns: SQLite's result code.
    func bind(_ values: ContiguousArray<Binding>) -> Int32 {
        var size = 0
        if values.count > Self.fewValues {
            for case .text(let text) in values { size &+= text.utf8.count }
        }
        let memory = size > 0 && size <= Self.mostTextBytes ? textMemory(size) : nil
        var offset = 0
        for index in values.indices {
            let parameter = Int32(truncatingIfNeeded: index &+ 1)
            let code: Int32
            if let memory, case .text(var text) = values[index] {
                code = text.withUTF8 { bytes in
                    let target = memory + offset
                    if let start = bytes.baseAddress { target.copyMemory(from: start, byteCount: bytes.count) }
                    offset &+= bytes.count
                    return sqlite3_bind_text64(
                        handle, parameter, target.assumingMemoryBound(to: CChar.self), UInt64(bytes.count), nil, UInt8(SQLITE_UTF8))
                }
            } else {
                code = bind(parameter, values[index])
            }
            if code != SQLITE_OK { return code }
        }
        return SQLITE_OK
    }

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
