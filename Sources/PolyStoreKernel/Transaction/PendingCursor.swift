import PolyStoreBackend
import PolyStoreQuery

/// A cursor that merges the store's rows with the pending rows of a transaction, in the order of the request.
final class PendingCursor: RecordCursor {
    private var store: RecordCursor
    /// The number of rows requested from the store and the number received.
    private var asked: Int
    private var came = 0
    private let page: (Int) throws -> (RecordCursor, count: Int)
    private let mine: [MaterializedCursor.Row]
    private let arena: RecordArena
    private let layout: RecordLayout
    private let order: RecordOrder
    private let isHidden: ((Int64) -> Bool)?
    /// Collects the hidden rows before the first visible one; nil after it.
    private var prefix: HiddenPrefix?
    private var prefixCount = 0
    private var position = 0
    private var hasStoreRow = false
    private var storeEnded = false
    private var skip: Int
    private var left: Int

    /// - Parameters:
    ///   - page: returns the store's rows from an offset on, and the maximum number of them; 0 after the last row.
    ///   - prefix: collects the hidden rows at the start.
    ///   - prefixCount: the number of rows of the prefix that the store's rows start after.
    init(
        _ page: @escaping (Int) throws -> (RecordCursor, count: Int), mine: [MaterializedCursor.Row], arena: RecordArena,
        request: FetchRequest, isHidden: ((Int64) -> Bool)?, prefix: HiddenPrefix? = nil, prefixCount: Int = 0
    ) throws {
        self.page = page
        (store, asked) = try page(0)
        self.mine = mine
        self.arena = arena
        self.isHidden = isHidden
        self.prefix = prefix
        self.prefixCount = prefixCount
        layout = request.entity.layout
        order = RecordOrder(request.sortKeys)
        skip = request.offset
        left = request.limit ?? .max
        super.init(layout: layout)
    }

    override func next() throws -> Bool {
        while left > 0, try advance() {
            if skip > 0 {
                skip -= 1
                continue
            }
            left -= 1
            return true
        }
        return false
    }

    private func advance() throws -> Bool {
        while !hasStoreRow, !storeEnded {
            if try store.next() {
                came += 1
                hasStoreRow = !(isHidden?(store.rowID) ?? false)
                if prefix != nil { notePrefix() }
            } else if came == asked {
                try turnPage()
            } else {
                storeEnded = true
            }
        }
        guard position < mine.count else {
            guard hasStoreRow else { return false }
            takeStoreRow()
            return true
        }
        let row = mine[position]
        let view = arena.view(row.offset, row.count, layout)
        if hasStoreRow, order.compare(store.rowID, store.record, row.id, view) < 0 {
            takeStoreRow()
        } else {
            position += 1
            setCurrent(row.id, view)
        }
        return true
    }

    private func notePrefix() {
        guard !hasStoreRow else {
            prefix = nil
            return
        }
        prefixCount += 1
        prefix?.append(store.rowID, store.record, count: prefixCount)
    }

    private func turnPage() throws {
        store.close()
        let (next, count) = try page(came)
        store = next
        asked += count
        if count == 0 { storeEnded = true }
    }

    private func takeStoreRow() {
        hasStoreRow = false
        setCurrent(store.rowID, store.record)
    }

    override func close() { store.close() }
}
