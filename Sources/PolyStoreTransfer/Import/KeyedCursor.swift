import PolyStoreBackend
import PolyStoreKernel

/// A cursor over objects that are looked up by unique id, with the position of each row's id.
@usableFromInline
final class KeyedCursor: RecordCursor {
    private let rows: RecordCursor
    private let index: ImportKeyIndex
    private let fields: [Field]
    let request: FetchRequest
    /// The time when the query began; 0 if slow queries are not logged.
    let began: UInt64
    /// The position of the id, by row; −1 if the id was not requested.
    @exclusivity(unchecked) @usableFromInline private(set) var positions: [Int] = []

    init(_ rows: RecordCursor, _ request: FetchRequest, _ index: ImportKeyIndex, _ fields: [FieldReference], began: UInt64) {
        self.rows = rows
        self.request = request
        self.index = index
        self.fields = fields.map { request.entity.fields[$0.index] }
        self.began = began
        super.init(layout: request.entity.layout)
    }

    @usableFromInline
    override func next() throws -> Bool {
        guard try rows.next() else { return false }
        setCurrent(rows.rowID, rows.record)
        positions.append(index.position(of: rows.record, fields) ?? -1)
        return true
    }

    @usableFromInline
    override func close() { rows.close() }
}
