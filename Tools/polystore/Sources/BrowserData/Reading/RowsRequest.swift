/// The rows of an entity that a page shows. The address of the page has all of it.
package struct RowsRequest: Sendable, Hashable {
    /// The order of the rows. Rows with equal values are in the order of their ids, in the same direction.
    package struct Order: Sendable, Hashable {
        /// An attribute, a to-one relationship, a path such as `country.name`, or `objectID`.
        package var term: String
        package var isAscending: Bool

        package init(_ term: String, isAscending: Bool = true) { (self.term, self.isAscending) = (term, isAscending) }
    }

    /// Which page of the rows.
    package enum Position: Sendable, Hashable {
        case first, last
        /// The rows that follow the last row of another page.
        case after(PageToken)
        /// The rows that precede the first row of another page.
        case before(PageToken)
    }

    /// The objects that a relationship of one object leads to, in place of all objects.
    package struct Link: Sendable, Hashable {
        /// The object whose related objects are shown, or to which they lead if the link is incoming.
        package var object: ObjectReference
        /// The name of the relationship.
        package var relationship: String
        /// The entity that declares the relationship if it leads to the object; nil if the relationship is one of the object.
        package var incomingFrom: String?

        package init(object: ObjectReference, relationship: String, incomingFrom: String? = nil) {
            (self.object, self.relationship, self.incomingFrom) = (object, relationship, incomingFrom)
        }
    }

    /// The name of the entity or subentity.
    package var entity: String
    /// The columns: attributes, relationships, paths and calculations as in format strings, each optionally with ` as name`. Empty for all attributes and to-one relationships.
    package var columns: [String] = []
    /// The order; nil for that of the ids, or of the scores if there is a search.
    package var order: Order?
    /// A condition in the format language; empty for none.
    package var filter = ""
    /// A full-text search; empty for none.
    package var search = ""
    /// The name of the full-text index; empty for the only one.
    package var searchIndex = ""
    /// Only the objects that all of these relationships lead to; empty for all.
    package var links: [Link] = []
    package var position = Position.first
    /// The greatest number of rows, from 1 to ``RowsRequest/greatestSize``.
    package var size = 50
    /// Whether the answer contains the rows that were examined and the plans. The requests are then executed a second time.
    package var wantsCost = false

    package init(_ entity: String) { self.entity = entity }

    package static let greatestSize = 1000
}
