package import PolyStore

@Model
package final class Person {
    package var name: String = ""
    @Attribute(.indexed) package var age: Int = 0
    package var note: String?
    @Relationship(inverse: "staff") package var team: Team?
    @Relationship(inverse: "friends") package var friends: Set<Person>
}

@Model
package final class Team {
    package var title: String = ""
    package var note: String?
    @Relationship package var staff: Set<Person>
}

/// The root of a hierarchy.
@Model(subentities: "Car", "Boat")
package class Vehicle {
    package var maker: String = ""
}

@Model
package final class Car: Vehicle {
    package var doors: Int = 4
}

@Model
package final class Boat: Vehicle {
    package var length: Double = 0
}

package enum HistoryModels {
    package static func schema() -> Schema {
        Schema(
            "History", [Person.self, Team.self, Vehicle.self],
            configurations: ["people": [Person.self, Team.self], "vehicles": [Vehicle.self]])
    }
}
