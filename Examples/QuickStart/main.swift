import PolyStore
import PolyStoreSQLite

@Model
final class Person {
    @Attribute(.unique) var email: String
    @Attribute(.indexed) var age: Int = 0
    var name: String = ""
    var nickname: String?
    @Relationship(inverse: "people") var department: Department?
    @Relationship(inverse: "friends") var friends: Set<Person>
}

@Model
final class Department {
    var title: String = ""
    @Relationship(deleteRule: .deny) var people: Set<Person>
}

let stack = try DataStack(Schema("Company 1", Person.self, Department.self))
try stack.addStore(.sqlite(file: "company.sqlite"))

// Write: commits on return, discards on throw.
let id = try await stack.perform { transaction in
    let research = try transaction.create(Into<Department>())
    research.title = "Research"
    let jane = try transaction.create(Into<Person>())
    jane.email = "jane@example.com"
    jane.name = "Jane"
    jane.age = 41
    jane.department = research
    return jane.objectID  // an object ends with its transaction; its id does not
}
try await stack.perform(editing: id) { _, jane in jane.age += 1 }

// Read on the main actor: live objects that follow every commit.
let people = try stack.view.fetchAll(From<Person>().where { $0.age > 30 }.orderBy { $0.name }.limit(20))
print(people.map { "\($0.name), \($0.age), \($0.department?.title ?? "nowhere")" })

// Read anywhere: one consistent snapshot.
let count = try await stack.read { context in try context.fetchCount(From<Person>().where { $0.age > 30 && $0.nickname == nil }) }
print(count)

// A relationship needs an id, not the object: nothing is read, and the commit refuses a target that does not exist.
try await stack.perform { transaction in
    let john = try transaction.create(Into<Person>())
    john.email = "john@example.com"
    if let research = try transaction.fetchObjectID(From<Department>()) { john.department = try transaction.object(with: research) }
}

// More objects than fit into memory: one batch at a time, released before the next.
let ages = try await stack.read { context in
    var ages = 0
    try context.fetchInBatches(From<Person>().where { $0.age > 17 }, size: 1000) { people in
        for person in people { ages += person.age }
    }
    return ages
}
print(ages)
