import Foundation
import PolyStore

/// A department of a company. Its entity has a name of its own.
@Model(entity: "Dept") package final class Department {
    package var title: String = ""
    @Attribute(.indexed) package var budget: Decimal = 0
    @Relationship(deleteRule: .deny) package var people: Set<Person>
    @Relationship(deleteRule: .cascade, inverse: "owner") package var projects: Set<Project>
    /// Without an inverse.
    @Relationship package var tags: Set<Project>
}
