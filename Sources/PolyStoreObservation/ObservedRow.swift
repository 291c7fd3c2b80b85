import PolyStoreBackend
import PolyStoreKernel

/// The row of an observed object. A store that is removed from the stack and added again has other entity indexes, so its objects have other rows.
struct ObservedRow: Equatable {
    /// The current row, or the last one if the object's store is not one of the stack.
    private(set) var row: RowReference
    /// A Boolean value that indicates whether the object's store is one of the stack.
    private(set) var isInStack = true

    init(_ row: RowReference) { self.row = row }

    /// Returns the row after stores were removed or added. It differs if the object must be read again.
    func followed<T: Model>(_ id: ObjectID<T>, _ context: Context) -> ObservedRow {
        var new = self
        if let entry = try? context.entry(of: id) {
            new = ObservedRow(RowReference(entityIndex: entry.entityIndex, rowID: id.rowID))
        } else {
            new.isInStack = false
        }
        return new
    }
}

extension ContextObserver {
    /// Observes an object under its new row, which the observer must already have adopted.
    func observe(_ new: ObservedRow, insteadOf old: ObservedRow, _ context: Context) {
        guard new.row != old.row else { return }
        context.observers?.remove(self, of: old.row)
        context.observers?.add(self, of: new.row)
    }
}
