/// A row of a list with its values.
struct SnapshotRow: Sendable, Equatable {
    let row: ListRow
    /// See ``ObjectSnapshot``.
    var record: [UInt8]
}
