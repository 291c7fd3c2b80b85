/// A row of a list with its values.
struct SnapshotRow: Sendable, Equatable {
    let row: ListRow
    /// The values; see ``ObjectSnapshot``.
    var record: [UInt8]
}
