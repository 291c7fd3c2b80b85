import PolyStoreBackend

/// A cursor over the rows of a query.
final class PostgreSQLCursor: RecordCursor {
    private let session: Session
    private let stream: RowStream
    private let query: CompiledQuery
    private let reader = RowReader()
    /// The record of every row if only row ids are read.
    private let empty: RecordView?
    @exclusivity(unchecked) private var isOpen = true
    @exclusivity(unchecked) private var count = 0
    /// The number of rows after which the interruption is checked.
    private static let rowsPerCheck = CompiledQuery.mostAtOnce

    init(_ session: Session, _ stream: RowStream, _ query: CompiledQuery) throws {
        self.session = session
        self.stream = stream
        self.query = query
        empty = query.fields?.isEmpty ?? false ? try reader.empty(query.table) : nil
        super.init(layout: query.table.entity.layout)
    }

    deinit { close() }

    override func next() throws -> Bool {
        guard isOpen else { return false }
        if session.isEnded {
            let name = query.table.entity.name
            throw StoreError(.closed, "The transaction of this cursor over \(name) has ended.", entity: name)
        }
        count &+= 1
        guard let rows = try session.next(stream, isChecked: count % Self.rowsPerCheck == 1) else {
            close()
            return false
        }
        guard let id = rows.integer(stream.row, 0) else {
            let name = query.table.entity.name
            throw StoreError(.corrupt, "An object of \(name) has no row id.", entity: name)
        }
        setCurrent(id, try empty ?? reader.read(rows, stream.row, query.table, fields: query.fields))
        return true
    }

    override func close() {
        guard isOpen else { return }
        isOpen = false
        // After the end of the transaction, another thread may read the stream.
        if !session.isEnded { stream.discard() }
    }
}
