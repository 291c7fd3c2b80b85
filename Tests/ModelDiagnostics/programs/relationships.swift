import PolyStore

@Model
final class Pet {
    var title: String = ""
    @Relationship var owner: Person?
    @Relationship var minders: Set<Person>
    @Relationship var friend: Pet?
}

final class Plain {}
struct Point: Hashable {}

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
    @Relationship(inverse: "friend") var ofPets: Set<Pet>  // error: the inverse must be a relationship that leads back to this class
    @Relationship(inverse: "members") var club: Club?  // error: the inverse must be a relationship that leads back to this class

    @Relationship var plain: Plain?  // error: a relationship leads to a model
    @Relationship var plains: [Plain]  // error: a relationship leads to a model
    @Relationship var point: Point?  // error: a relationship leads to a model
    @Relationship var points: Set<Point>  // error: a relationship leads to a model
    @Relationship var number: Int?  // error: a relationship leads to a model
    @Relationship var text: String?  // error: a relationship leads to a model
}

@Model
final class Club {
    @Relationship var members: Set<Pet>
    // The inverse leads to the superclass of this class.
    @Relationship(inverse: "club") var partners: Set<Partner>
}

@Model(subentities: "Official")
class Partner {
    var name: String = ""
    @Relationship var club: Club?
    @Relationship var offices: Set<Office>
}

@Model
final class Official: Partner {
    @Relationship(inverse: "holder") var office: Office?
    @Relationship(inverse: "official") var formerOffices: Set<Office>
}

@Model
final class Office {
    @Relationship var holder: Partner?
    @Relationship var official: Official?
}
