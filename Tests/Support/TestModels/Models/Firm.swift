import PolyStore

/// A leaf of the hierarchy, one level below the root.
@Model package final class Firm: Party {
    @Attribute(.indexed) package var revenue: Int = 0
    /// A company with staff cannot be deleted.
    @Relationship(deleteRule: .deny) package var staff: Set<Human>
    /// Required.
    @Relationship(required: true) package var director: Human?
}
