import PolyStore

/// Has one or two sailors.
@Model package final class Crew {
    @Relationship(min: 1, max: 2) package var sailors: Set<Sailor>
}
