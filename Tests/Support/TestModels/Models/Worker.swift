import PolyStore

/// A leaf of the hierarchy, two levels below the root.
@Model package final class Worker: Human {
    /// Required.
    package var badge: String
    @Relationship(inverse: "reports") package var boss: Worker?
    /// At most two.
    @Relationship(max: 2) package var reports: Set<Worker>

    package override func validate() throws { if badge == "none" { throw ValidationError("is no badge", attribute: "badge") } }
}
