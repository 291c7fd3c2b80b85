/// An object of the store, as an address of the browser names it.
package struct ObjectReference: Hashable, Sendable {
    /// The name of the entity, which can be that of a subentity.
    package let entity: String
    package let rowID: Int64

    package init(entity: String, rowID: Int64) { (self.entity, self.rowID) = (entity, rowID) }
}
