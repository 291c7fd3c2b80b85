import PolyStore

/// Outside the hierarchy, with a relationship to it.
@Model package final class Visit {
    package var day: Int = 0
    @Relationship package var party: Party?
}
