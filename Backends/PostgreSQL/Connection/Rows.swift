import CPostgreSQL
import PolyStoreBackend

/// The result of a statement: rows in memory of libpq.
final class Rows {
    /// The result of libpq.
    // A result is read by one thread at a time, and no access lasts longer than a call.
    @exclusivity(unchecked) private(set) var handle: OpaquePointer

    /// Takes over a result.
    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { PQclear(handle) }

    /// Frees the result, and takes over another one.
    func replace(with other: OpaquePointer) {
        PQclear(handle)
        handle = other
    }

    var count: Int { Int(PQntuples(handle)) }
    /// The number of rows that the statement changed; 0 for other statements.
    var changedCount: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }
    /// The name of the executed command, such as `COMMIT`.
    var command: String { String(cString: PQcmdStatus(handle)) }

    func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(handle, Int32(row), Int32(column)) != 0 }

    /// Returns the bytes of a value. Valid while the result exists.
    func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(handle, Int32(row), Int32(column)), count: Int(PQgetlength(handle, Int32(row), Int32(column))))
    }

    /// Returns an integer of 2, 4 or 8 bytes; nil for null and values of another size.
    func integer(_ row: Int, _ column: Int) -> Int64? {
        guard !isNull(row, column) else { return nil }
        let bytes = bytes(row, column)
        return switch bytes.count {
        case 2: Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        case 4: Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case 8: Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        default: nil
        }
    }

    func bool(_ row: Int, _ column: Int) -> Bool { !isNull(row, column) && bytes(row, column).first == 1 }

    /// Returns a text without its encoding resolved; nil for null.
    func text(_ row: Int, _ column: Int) -> String? {
        isNull(row, column) ? nil : String(decoding: bytes(row, column), as: UTF8.self)
    }
}
