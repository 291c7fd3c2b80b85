/// A path of keys joined by dots.
///
/// `"[0]"`, `"[LAST]"` and the like are positions in an ordered relationship. Keys can be collection operators: `friends.@count`, `friends.@avg.age`.
/// `SELF` and `objectID` alone are the object itself.
package struct PropertyPath: Sendable, Hashable {
    /// The variable that the path starts from in a subquery, without its dollar sign; nil for the fetched object.
    package var variable: String?
    /// The keys; empty for the object itself.
    package var keys: [String]
    /// The location in the format string.
    package var location: FormatLocation

    /// Creates a path of keys.
    package init(_ keys: [String], variable: String? = nil, location: FormatLocation = .none) {
        self.variable = variable
        self.keys = keys
        self.location = location
    }
}
