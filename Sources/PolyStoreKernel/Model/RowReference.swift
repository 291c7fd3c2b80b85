/// A row of a stack, identified by its entity index and row id.
package struct RowReference: Hashable, Sendable {
    package let entityIndex: Int32
    package let rowID: Int64

    package init(entityIndex: Int32, rowID: Int64) {
        self.entityIndex = entityIndex
        self.rowID = rowID
    }
}

extension Model {
    var rowReference: RowReference { RowReference(entityIndex: _$state.entityIndex, rowID: _$state.rowID) }
}
