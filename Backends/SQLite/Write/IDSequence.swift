import CSQLite
import PolyStoreBackend

/// The row id sequence of an entity, in `polystore_sequence`.
struct IDSequence {
    let connection: Connection
    let table: EntityTable

    /// Reserves row ids.
    /// - Returns: the first of `count` row ids.
    func take(_ count: Int) throws -> Int64 {
        let name = table.entity.name
        let first = try peek() ?? 1
        let (after, isTooFar) = first.addingReportingOverflow(Int64(count))
        guard !isTooFar else { throw StoreError(.full, "There are not \(count) ids of \(name) left.", entity: name) }
        try `continue`(at: after)
        return first
    }

    /// Sets the next row id.
    func `continue`(at next: Int64) throws {
        let name = table.entity.name
        let write = try connection.kept(
            "INSERT INTO polystore_sequence (entity, next) VALUES (?, ?) ON CONFLICT (entity) DO UPDATE SET next = excluded.next")
        let code = write.bind(1, .text(name))
        guard code == SQLITE_OK else { throw connection.error(code, "Taking ids of \(name)") }
        sqlite3_bind_int64(write.handle, 2, next)
        try connection.run(write, "Taking ids of \(name)")
    }

    /// - Returns: the next row id; `nil` if none was ever reserved.
    func peek() throws -> Int64? {
        let name = table.entity.name
        let read = try connection.kept("SELECT next FROM polystore_sequence WHERE entity = ?")
        defer { read.reset() }
        var code = read.bind(1, .text(name))
        if code == SQLITE_OK { code = sqlite3_step(read.handle) }
        switch code {
        case SQLITE_DONE: return nil
        case SQLITE_ROW:
            let value = sqlite3_column_int64(read.handle, 0)
            guard sqlite3_column_type(read.handle, 0) == SQLITE_INTEGER, value > 0 else {
                throw StoreError(
                    .corrupt, "The next id of \(name) in polystore_sequence is not a positive integer.", entity: name,
                    location: connection.path)
            }
            return value
        default: throw connection.error(code, "Taking ids of \(name)")
        }
    }
}
