import PolyStoreBackend

/// The value of a to-one relationship: the row id of the target, 0 for none.
public struct ToOne: Sendable, Hashable {
    /// The row id of the target; 0 for none.
    public var rowID: Int64

    /// Creates a value from the row id of the target.
    @inlinable public init(rowID: Int64) { self.rowID = rowID }
    /// Reads a field of a record.
    @inlinable public init(_ record: RecordView, _ field: Int) { rowID = record.isNull(field) ? 0 : record.integer64(field) }
    /// The value without a target.
    @inlinable public static var none: ToOne { ToOne(rowID: 0) }
    /// Writes a field of a record. Writes nothing for a value without a target.
    @inlinable
    public func encode(into builder: inout RecordBuilder, _ field: Int) { if rowID != 0 { builder.setInteger(field, rowID) } }
}
