import CSQLite
import PolyStoreBackend

/// A cursor over the rows of one statement.
final class SQLiteCursor: RecordCursor {
    private let session: Session
    private let statement: Statement
    private let handle: OpaquePointer
    private let table: EntityTable
    private let onlyIDs: Bool
    private let selectedFields: [Int]?
    // Used only by `next`, never recursively.
    @exclusivity(unchecked) private var reader: RowReader
    @exclusivity(unchecked) private var isOpen = true

    /// Creates a cursor over the rows of a query.
    /// - Parameter statement: The statement of the query, with its values bound. The cursor returns it to the connection.
    init(_ session: Session, _ statement: Statement, _ query: CompiledQuery) throws {
        self.session = session
        self.statement = statement
        handle = statement.handle
        table = query.table
        onlyIDs = query.onlyIDs
        selectedFields = query.selectedFields
        reader = statement.reader ?? RowReader()
        super.init(layout: table.layout)
        if onlyIDs { setCurrent(0, try reader.empty(table)) }
    }

    deinit { close() }

    override func next() throws -> Bool {
        guard isOpen, !session.isEnded else { return try outside() }
        let code = sqlite3_step(handle)
        guard code == SQLITE_ROW else { return try finish(code) }
        if let selectedFields, !onlyIDs {
            setCurrent(sqlite3_column_int64(handle, 0), try reader.read(handle, table, only: selectedFields))
        } else {
            setCurrent(sqlite3_column_int64(handle, 0), onlyIDs ? record : try reader.read(handle, table))
        }
        return true
    }

    override func close() {
        guard isOpen else { return }
        isOpen = false
        // Otherwise the end of the transaction has already returned the statement.
        if !session.isEnded { session.connection.checkIn(statement) }
    }

    @inline(never)
    private func finish(_ code: Int32) throws -> Bool {
        guard code != SQLITE_DONE else {
            close()
            return false
        }
        let error = session.connection.error(code, "Reading \(table.entity.name)")
        close()
        throw error
    }

    @inline(never)
    private func outside() throws -> Bool {
        if isOpen && session.isEnded {
            throw StoreError(.closed, "The transaction of this cursor over \(table.entity.name) has ended.", entity: table.entity.name)
        }
        return false
    }
}
