import PolyStore

/// A person of a company.
@Model package final class Person {
    @Attribute(.unique) package var email: String
    @Attribute(.indexed) package var age: Int = 0
    package var nickname: String?
    @Relationship(inverse: "people") package var department: Department?
    @Relationship(inverse: "friends") package var friends: Set<Person>
    @Relationship(inverse: "spouse") package var spouse: Person?

    package var computed: String { "\(email) \(age)" }
}
