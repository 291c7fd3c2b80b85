import PolyStore

/// A member of a crew, with a to-one relationship for each delete rule.
@Model package final class Sailor {
    /// Required.
    @Relationship(inverse: "sailors", required: true) package var crew: Crew?
    /// Deleted with this one; without an inverse.
    @Relationship(deleteRule: .cascade) package var next: Sailor?
    /// One to one, with cascade on both sides.
    @Relationship(deleteRule: .cascade, inverse: "buddy") package var buddy: Sailor?
    /// Denies the deletion of this one.
    @Relationship(deleteRule: .deny) package var ward: Sailor?
}
