import PolyStore

@Model(subentities: "Employee")
class Person {
    var name: String = ""
}

@Model(subentities: "Manager")
class Employee: Person {
    let salary: Int = 0  // error: salary is constant
}

@Model
final class Manager: Employee {
    var level = makeLevel()  // error: level needs its type written out
}

@Model
@MainActor  // error: belongs to no actor
final class Window {
    var title: String = ""
}

@Model
final class Box<Content> {  // error: cannot be generic
    var count: Int = 0
}

func hire(_ transaction: Transaction) throws { try transaction.create(Into<Manager>()).name = "Ann" }

func makeLevel() -> Int { 1 }
