import PolyStore

/// The department of the data set.
@Model final class Department {
    var name: String = ""
    @Relationship var people: Set<Person>
}
