import PolyStoreBackend

/// A column of rows.
package struct RowColumn: Sendable, Hashable {
    /// The name that a reader sees.
    package let title: String
    /// The attribute, path or calculation, as format strings have it.
    package let term: String
    /// The type of an attribute; nil for anything else.
    package let type: AttributeType?
    /// The entity that a to-one relationship leads to; nil for anything else.
    package let destination: String?
    /// A Boolean value that indicates whether an index provides the order of the column.
    package let isIndexed: Bool
}

/// A page of rows.
package struct RowsPage: Sendable {
    /// One object.
    package struct Row: Sendable {
        /// The object; its entity is the object's own, which can be a subentity.
        package let object: ObjectReference
        /// The values, one for each column.
        package let values: [BrowserValue]
    }

    package let columns: [RowColumn]
    package let rows: [Row]
    /// The order of the rows; nil if they are in the order of their scores.
    package let order: RowsRequest.Order?
    /// The token for the page before this one; nil if this is the first page.
    package let previous: PageToken?
    /// The token for the page after this one; nil if this is the last page.
    package let next: PageToken?
    package let cost: PaneCost
}
