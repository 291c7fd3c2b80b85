import PolyStoreBackend
import PolyStoreQuery

/// The full-text indexes of a copy: those of the snapshot that the model has, and the others of the model, which are built when the copy is opened.
struct SearchCopy {
    /// The statements that precede the copied rows.
    private(set) var preparation: [Statement] = []
    /// The condition that selects the copied rows; nil if there are none.
    private(set) var condition: String?

    /// - Parameters:
    ///   - indexes: The indexes of the snapshot.
    ///   - tables: The tables of the copy.
    init(_ indexes: [StoredSearchIndex], to tables: StoreTables, location: String) throws {
        if tables.storeFormat == StoreTables.format { return }
        preparation = [.once("DELETE FROM \(tables.search)")]
        var (kept, last) = ([UInt32](), Int32(indexes.map(\.number).max() ?? 0))
        for var definition in tables.searchDefinitions {
            let wanted = try definition.resolved(tables.schema, location: location)
            let index = indexes.first { $0.entity == wanted.entity && $0.fields == wanted.fields && $0.options == wanted.options }
            if let index {
                kept.append(index.number)
            } else {
                last += 1
                definition.number = last
                preparation.append(.once(definition.insertion(isComplete: false, tables)))
            }
        }
        condition = kept.isEmpty ? nil : "\"index\" IN (\(kept.map { "\($0)" }.joined(separator: ", ")))"
    }
}
