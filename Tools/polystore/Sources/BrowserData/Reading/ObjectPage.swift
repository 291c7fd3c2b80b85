import PolyStoreBackend

/// One object with its values and its links.
package struct ObjectPage: Sendable {
    /// An attribute with its value.
    package struct Property: Sendable {
        package let name: String
        package let type: AttributeType
        package let value: BrowserValue
    }

    /// The objects at the other end of a relationship.
    package struct Link: Sendable {
        /// The relationship for a reader: its name, or for an incoming one the entity and its name, `Loan.book`.
        package let title: String
        /// The name of the relationship.
        package let relationship: String
        /// The entity of the objects.
        package let entity: String
        /// The entity that declares the relationship if it leads to this object and has no inverse; nil for a relationship of the object.
        package let incomingFrom: String?
        package let isToMany: Bool
        package let isOrdered: Bool
        package let deleteRule: DeleteRule?
        /// The number of related objects.
        package let count: Int
        /// The first related objects.
        package let first: [RelatedObject]
    }

    /// The object; its entity is the object's own, which can be a subentity.
    package let object: ObjectReference
    /// The name for a reader.
    package let name: String
    package let properties: [Property]
    /// The relationships of the object, then those that lead to it without an inverse.
    package let links: [Link]
    package let cost: PaneCost
}
