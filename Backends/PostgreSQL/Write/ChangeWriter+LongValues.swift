import PolyStoreBackend

extension ChangeWriter {
    /// A unique index and its table.
    private struct UniqueIndex: Equatable {
        let table: EntityTable
        let index: EntityTable.Index

        /// The names of its fields.
        var fields: String { index.fields.map { table.entity.fields[$0].name }.joined(separator: ", ") }

        static func == (left: Self, right: Self) -> Bool { left.table === right.table && left.index.plainName == right.index.plainName }
    }

    /// Returns the error for a unique value that is too long for an entry of an index.
    /// - Returns: nil if the server refused something else.
    func tooLong(_ error: StoreError) -> StoreError? {
        let all = tables.entities.flatMap { table in table.indexes.filter(\.isUnique).map { UniqueIndex(table: table, index: $0) } }
        let named = all.first { $0.table.plainName == error.entity && $0.index.plainName == error.attribute }
        guard named != nil || error.attribute == nil else { return nil }
        // Compression comes before the limit, so that only shorter values are known to fit. No index is named for an entry of more than 8,191 bytes with its header.
        let found = values(longerThan: named == nil ? 8000 : 2000, in: named.map { [$0] } ?? all)
        var indexes: [UniqueIndex] = named.map { [$0] } ?? []
        for value in found where !indexes.contains(value.index) { indexes.append(value.index) }
        guard let first = indexes.first else { return nil }
        let value = found.count == 1 ? found.first : nil
        let names = indexes.map { "\($0.table.entity.name).\($0.fields)" }.joined(separator: " or ")
        let what =
            value.map { "\(names) of object \($0.change.rowID) has \($0.count) bytes and is unique." }
            ?? "A value of \(names) is unique and too long."
        var result = StoreError(
            .invalidValue,
            "\(what) PostgreSQL supports unique values of up to 2,704 bytes after their compression. Store a shorter value, or remove the uniqueness.",
            entity: indexes.allSatisfy { $0.table === first.table } ? first.table.entity.name : nil,
            attribute: indexes.count == 1 ? first.fields : nil, rowID: value?.change.rowID)
        (result.engineCode, result.underlying, result.location) = (error.engineCode, error.underlying, error.location)
        return result
    }

    /// Returns the values of the change set in indexes that have more than a number of bytes.
    private func values(
        longerThan least: Int, in indexes: [UniqueIndex]
    ) -> [(change: ChangeSet.Change, index: UniqueIndex, count: Int)] {
        var found: [(change: ChangeSet.Change, index: UniqueIndex, count: Int)] = []
        for change in changes.changes where change.kind != .delete {
            let record = changes.record(change)
            for index in indexes where index.table === tables.entities[change.entity] {
                let fields = index.index.fields.filter { change.kind == .insert || change.mask.contains($0) }
                let count = fields.reduce(0) { $0 + (record.isNull($1) ? 0 : record.bytes($1).count) }
                if count > least { found.append((change, index, count)) }
            }
        }
        return found
    }
}
