import PolyStoreKernel

/// A row of a list with its values.
struct SnapshotRow: Sendable, Equatable {
    let row: RowReference
    /// The values; see ``ObjectSnapshot``.
    var record: [UInt8]
}
