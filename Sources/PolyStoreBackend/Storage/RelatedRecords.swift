/// A source of related objects. Every ``ReadTransaction`` conforms.
public protocol RelatedRecords: AnyObject {
    /// Returns a record, or nil if it does not exist. The record is valid until the next call.
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView?
    /// Returns the targets of a relationship for many sources; see ``ReadTransaction/related(_:of:)``.
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs
}
