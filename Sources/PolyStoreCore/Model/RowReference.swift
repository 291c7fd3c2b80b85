/// A row of a stack, identified by its entity index and row id.
struct RowReference: Hashable, Sendable {
    let entityIndex: Int32
    let rowID: Int64
}

extension Model {
    var rowReference: RowReference { RowReference(entityIndex: _$state.entityIndex, rowID: _$state.rowID) }
}
