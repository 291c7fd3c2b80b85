import PolyStore
import TestSupport
import Testing

/// The entity of the references' samples, with every property that the samples use.
@Model(entity: "MyPersonEntity")
final class MyPerson {
    var name: String = ""
    var surname: String = ""
    var age: Int = 0
    var gender: String = ""
    var rating: Double = 0
    var location: String?
    @Relationship(inverse: "friends") var friends: Set<MyPerson>
    @Relationship var friend: MyPerson?
}

/// An entity of another configuration, whose objects may be in another store.
@Model
final class MyVisit {
    var place: String = ""
}

/// A stack with the people of the samples, such as John Smith (30) and Jane Doe (22), and some additional ones.
final class People {
    let stack: DataStack
    private let folder: Folder

    init(_ backend: Backend) throws {
        folder = try Folder()
        stack = try DataStack(Schema("References", MyPerson.self))
        try stack.addStore(backend.store(in: folder))
        try stack.performAndWait { transaction throws in
            let rows: [(String, String, Int, String, Double, String?)] = [
                ("John Smith", "Smith", 30, "M", 4.5, "Taipei"), ("Jane Doe", "Doe", 22, "F", 4.5, "Taipei"),
                ("Monk", "Adrian", 42, "M", 3, "Taipei"), ("Monk", "Theo", 17, "M", 2, "Kyoto"), ("Warrior", "Zed", 35, "M", 5, "Taipei"),
                ("Warrior", "Ada", 16, "F", 1, nil),
            ]
            var people: [MyPerson] = []
            for (name, surname, age, gender, rating, location) in rows {
                let person = try transaction.create(Into<MyPerson>())
                (person.name, person.surname, person.age) = (name, surname, age)
                (person.gender, person.rating, person.location) = (gender, rating, location)
                people.append(person)
            }
            people[0].friends = [people[1], people[2]]
            people[1].friends = [people[0], people[3], people[4]]
        }
    }

    /// The ages of all people in ascending order, read from a new snapshot.
    var ages: [Int] {
        get throws { try stack.readAndWait { try $0.fetchAll(From<MyPerson>().orderBy(.ascending(\.age))).map(\.age) } }
    }

    /// Returns the id of the first person with a name.
    func id(_ name: String) throws -> ObjectID<MyPerson> {
        let id = try stack.readAndWait { try $0.fetchObjectID(From<MyPerson>(), Where(\.name == name)) }
        return try #require(id)
    }
}

/// A stack of two empty stores. People can be in either of them: in the default configuration, whose name is nil, and in "Config1". Visits are in the first one
/// only.
final class TwoStores {
    let stack: DataStack
    private let folder: Folder

    init(_ backend: Backend) throws {
        folder = try Folder()
        let schema = Schema("References", [MyPerson.self, MyVisit.self], configurations: ["Config1": [MyPerson.self]])
        stack = try DataStack(schema)
        try stack.addStore(backend.store(in: folder, "default"))
        try stack.addStore(backend.store(in: folder, "config1"), configuration: "Config1")
    }
}
