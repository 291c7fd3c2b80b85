import PolyStore

/// A mistake in a superclass is reported alone: its subclasses and the code that uses them still compile.
@Model(subentities: "Employee")
class Person {
    let name: String = ""  // error: name is constant
    func validate() throws {}
}

@Model(subentities: "Manager")
class Employee: Person {
    var salary: Int = 0
    override func validate() throws { try super.validate() }
}

@Model
final class Manager: Employee {
    var level: Int = 0
    @Relationship var team: Set<Employee>
}

func promote(_ transaction: Transaction) throws {
    let manager = try transaction.create(Into<Manager>())
    manager.salary = 3
    manager.team = []
    print(manager.name, try transaction.fetchCount(From<Employee>()))
}
