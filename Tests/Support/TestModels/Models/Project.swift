import PolyStore

/// A project of a department.
@Model package final class Project {
    package var name: String = ""
    @Relationship(required: true) package var owner: Department?
    /// Without an inverse.
    @Relationship package var parent: Project?
}
