import PolyStoreBackend

/// The value of a to-one relationship: the row id of the target, 0 for none.
public struct ToOne: Sendable, Hashable {
    /// The row id of the target; 0 for none.
    public var id: Int64

    /// Creates a value from the row id of the target.
    @inlinable public init(id: Int64) { self.id = id }
    /// Reads a field of a record.
    @inlinable public init(_ record: RecordView, _ field: Int) { id = record.isNull(field) ? 0 : record.integer64(field) }
    /// The value without a target.
    @inlinable public static var none: ToOne { ToOne(id: 0) }
    /// Writes a field of a record. Writes nothing for a value without a target.
    @inlinable
    public func encode(into builder: inout RecordBuilder, _ field: Int) { if id != 0 { builder.setInteger(field, id) } }
}
