import PolyStore

@Model
final class Pet {
    var title: String = ""
    @Relationship var owner: Person?
    @Relationship var minders: Set<Person>
}

@Model
final class Person {
    var friend: Person?  // error: mark it with @Relationship
    var friends: Set<Person>  // error: mark it with @Relationship
    var children: [Person]  // error: mark it with @Relationship
    var pets: Set<Pet> = []  // error: mark it with @Relationship
    var boss: Person  // error: mark it with @Relationship

    @Relationship(inverse: "owner") var owned: Set<Pet>
    @Relationship(inverse: "minders") var minded: [Pet]
    @Relationship(inverse: "titel") var misspelled: Set<Pet>  // error: has no member 'titel'
    @Relationship(inverse: "title") var attribute: Set<Pet>  // error: the inverse must be a relationship
}
