// swift-format-ignore-file
import Foundation
import PolyStore

enum Fleet {
    @Model(isAbstract: true, subentities: "Automobile", "Boat")
    class Vehicle {
        @Attribute(.unique) var plate: String
        @Relationship(inverse: "vehicles") var depot: Depot?

        #Index<Vehicle>(\.plate)
    }

    @Model(originalName: "Car", subentities: "Truck")
    class Automobile: Vehicle {
        var doors: Int = 4
        @Relationship var garage: Depot?

        #Index<Automobile>(\.plate, \.doors)
    }

    @Model
    final class Truck: Automobile {
        var load: Double
        var axles: Int?
        @Relationship(inverse: "truck") var trailer: Trailer?

        #Index<Truck>(\.load)
    }

    @Model
    final class Boat: Vehicle {
        var length: Double?
    }

    @Model
    final class Depot {
        @Relationship var vehicles: Set<Vehicle>
        // The schema does not contain which class of the hierarchy Vehicle the relationship leads to. Name a subclass if it was one.
        @Relationship var watched: Set<Vehicle>
    }

    @Model
    final class Trailer {
        @Relationship(deleteRule: .cascade) var truck: Truck?
    }

    static let schema = Schema("Fleet", Vehicle.self, Depot.self, Trailer.self)
}
