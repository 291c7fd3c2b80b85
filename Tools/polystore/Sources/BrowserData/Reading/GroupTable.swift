/// Groups of the objects of an entity with functions of each.
package struct GroupsRequest: Sendable, Hashable {
    package var entity: String
    /// The values that define the groups: attributes, paths, parts of dates such as `year(born)`. Empty for one group of all objects.
    package var groups: [String] = []
    /// The functions: `count(*)`, `sum(population)`, each optionally with ` as name`.
    package var functions = ["count(*) as count"]
    package var filter = ""
    package var search = ""
    package var searchIndex = ""
    /// A condition on the groups; empty for none.
    package var having = ""
    /// The title of a column to order by; nil for the order of the groups.
    package var order: RowsRequest.Order?
    /// The greatest number of groups, at most ``GroupsRequest/greatestSize``.
    package var size = 100
    package var wantsCost = false

    package init(_ entity: String) { self.entity = entity }

    package static let greatestSize = 1000
}

/// A table of groups.
package struct GroupTable: Sendable {
    /// What selects the objects of a group among those of the request: all conditions select them, and all links lead to them.
    package struct Selection: Sendable, Hashable {
        /// Conditions in the format language without an OR outside of parentheses.
        package var conditions: [String] = []
        package var links: [RowsRequest.Link] = []
    }

    package let titles: [String]
    /// The number of leading columns that define the groups; the others are functions.
    package let keyCount: Int
    package let rows: [[BrowserValue]]
    /// What selects the objects of each row; nil where nothing selects just them.
    package let selections: [Selection?]
    /// A Boolean value that indicates whether there are more groups than rows.
    package let hasMore: Bool
    package let cost: PaneCost
}
