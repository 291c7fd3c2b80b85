/// A relationship of one object.
@usableFromInline
package struct RelationshipKey: Hashable {
    @usableFromInline package let entityIndex: Int32
    /// The index of the relationship in its entity.
    @usableFromInline package let relationship: Int32
    @usableFromInline let rowID: Int64

    @usableFromInline
    init(entityIndex: Int32, relationship: Int32, rowID: Int64) {
        self.entityIndex = entityIndex
        self.relationship = relationship
        self.rowID = rowID
    }

    /// The object that has the relationship.
    package var owner: RowReference { RowReference(entityIndex: entityIndex, rowID: rowID) }
}
