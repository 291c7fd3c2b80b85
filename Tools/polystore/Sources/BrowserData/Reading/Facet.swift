/// The values of a property with the number of objects that have each.
package struct Facet: Sendable {
    /// How the values are divided.
    package enum Kind: String, Sendable, Hashable {
        /// Each value, the most frequent first.
        case values
        /// Numbers in ranges of equal width, in order.
        case ranges
        /// Dates by month, or by year, decade or century if there would be too many months; in order.
        case periods
    }

    /// A value or a range.
    package struct Bucket: Sendable, Hashable {
        /// The value or the range for a reader.
        package let title: String
        package let count: Int
        /// The condition that selects the objects, in the format language; combine it with the filter by AND. It has no OR outside of parentheses. Empty for an object whose name others can
        /// have too: ``link`` selects those.
        ///
        /// The condition of a text of more than 1,000 bytes selects all texts with the same beginning, end and length; its title begins with "about".
        package let condition: String
        /// The related object if the property is a relationship.
        package let reference: ObjectReference?
        /// The link that selects the objects if the property is a relationship: the property leads from them to ``reference``.
        package let link: RowsRequest.Link?

        package init(
            title: String, count: Int, condition: String, reference: ObjectReference? = nil, link: RowsRequest.Link? = nil
        ) {
            (self.title, self.count, self.condition, self.reference, self.link) = (title, count, condition, reference, link)
        }
    }

    /// The property, as in the request.
    package let property: String
    package let kind: Kind
    package let buckets: [Bucket]
    /// The number of objects that were counted so far.
    package let counted: Int
    /// The number of objects to count; nil if it is not known.
    package let total: Int?
    /// The number of different values, at least; more than ``buckets`` if only the most frequent are listed.
    package let valueCount: Int
    /// A Boolean value that indicates whether there are so many different values that the rest of them was not counted.
    package let hasTooManyValues: Bool
    /// A Boolean value that indicates whether all objects are counted.
    package let isComplete: Bool
    package let cost: PaneCost
}
