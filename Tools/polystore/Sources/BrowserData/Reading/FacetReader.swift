import PolyStoreBackend
import PolyStoreCore

/// Counts the values of a property.
struct FacetReader: Sendable {
    let store: BrowserStore
    let rows: RowReader
    let property: String
    let size: Int

    init(_ property: String, _ request: RowsRequest, _ size: Int, _ store: BrowserStore) throws {
        rows = try RowReader(request, store)
        (self.store, self.property, self.size) = (store, property, size)
    }

    func read(_ context: Context, _ report: (Facet) -> Void) throws {}
}
