import Foundation
import PolyStore
import PolyStoreMemory
import PolyStoreSQLite
import TestSupport
import Testing

enum Fuel: String, Sendable { case petrol, power }

@Model(isAbstract: true, subentities: "Car", "Boat")
class Vehicle: CustomStringConvertible {
    @Attribute(.unique) var plate: String
    @Attribute(.indexed, name: "label") var title: String = ""
    @Relationship(inverse: "vehicles") var garage: Garage?
    @Relationship(inverse: "tows") var towedBy: Vehicle?
    @Relationship var tows: Set<Vehicle>
    @Transient var isSelected = false
    var description: String { "\(Swift.type(of: self)) \(plate)" }
    #Index<Vehicle>(\.title, \.plate)
}

@Model(entity: "Automobile", subentities: "Truck")
class Car: Vehicle {
    var doors: Int = 4
    var fuel: Fuel = .petrol
    var extras: [String] = []
    @Relationship(deleteRule: .cascade, inverse: "car") var rides: Set<Ride>
    #Index<Car>(\.title, \.doors)
}

@Model
final class Truck: Car {
    var load: Double
    @Attribute(name: "weight") var mass: Double = 1
    @Relationship(inverse: "truck") var trailer: Trailer?

    override func validate() throws {
        try super.validate()
        if load < 0 { throw ValidationError("is negative", attribute: "load") }
    }
}

/// Without properties of its own.
@Model
final class Boat: Vehicle {}

@Model
final class Garage: Identifiable {
    var name: String = ""
    @Relationship var vehicles: Set<Vehicle>
}

@Model
final class Ride {
    var length: Int = 0
    @Relationship var car: Car?
}

@Model
final class Trailer {
    var axles: Int = 1
    @Relationship var truck: Truck?
}

/// Not listed by its superclass.
@Model
final class Bus: Car {}

@Model(subentities: "ListedChild")
class ListingParent { var title: String = "" }
@Model
final class ListedChild: ListingParent {
    @Attribute(name: "Title") var other: String = ""
}

@Model(subentities: "UnmarkedChild")
class Unmarked { var title: String = "" }
final class UnmarkedChild: Unmarked {}

@Suite struct InheritanceMacroTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func stacks() throws -> [DataStack] {
        try [Backend.memory, .sqlite].map { backend in
            let stack = try DataStack(Schema("Vehicles", Vehicle.self, Garage.self, Ride.self, Trailer.self))
            try stack.addStore(backend.store(in: folder))
            try stack.performAndWait { transaction throws in
                let garage = try transaction.create(Into<Garage>())
                garage.name = "Main"
                let car = try transaction.create(Into<Car>())
                (car.plate, car.title, car.fuel, car.garage) = ("C1", "small", .power, garage)
                car.extras.append("radio")
                let truck = try transaction.create(Into<Truck>())
                (truck.plate, truck.title, truck.load, truck.doors, truck.garage) = ("T1", "big", 7.5, 2, garage)
                let boat = try transaction.create(Into<Boat>())
                (boat.plate, boat.title, boat.towedBy) = ("B1", "wet", truck)
                let trailer = try transaction.create(Into<Trailer>())
                (trailer.axles, trailer.truck) = (2, truck)
                for length in [10, 20] {
                    let ride = try transaction.create(Into<Ride>())
                    (ride.length, ride.car) = (length, truck)
                }
            }
            return stack
        }
    }

    @Test func everyClassIsReadAndWritten() throws {
        for stack in try stacks() {
            try stack.readAndWait { context throws in
                let all = try context.fetchAll(From<Vehicle>().orderBy(.ascending(\.plate)))
                #expect(all.map { $0.description } == ["Boat B1", "Car C1", "Truck T1"])
                let car = try #require(all[1] as? Car)
                #expect((car.doors, car.fuel, car.extras) == (4, .power, ["radio"]))
                let truck = try #require(all[2] as? Truck)
                #expect((truck.doors, truck.load, truck.mass, truck.title) == (2, 7.5, 1, "big"))
                #expect(truck.trailer?.axles == 2)
                #expect(truck.trailer?.truck === truck)
                #expect(truck.rides.map { $0.length }.sorted() == [10, 20])
                #expect(truck.tows == [all[0]])
                #expect(all[0].towedBy === truck)
                #expect(truck.garage?.vehicles == [car, truck])
            }
        }
    }

    @Test func keyPathsOfInheritedPropertiesWork() throws {
        for stack in try stacks() {
            try stack.readAndWait { context throws in
                #expect(try context.fetchAll(From<Truck>(), Where(\.title == "big" && \.load > 7)).map { $0.plate } == ["T1"])
                #expect(try context.fetchAll(From<Car>().orderBy(.descending(\.title))).map { $0.plate } == ["C1", "T1"])
                #expect(try context.fetchAll(From<Truck>(), Where(\.garage?.name == "Main")).count == 1)
                #expect(try context.fetchAll(From<Truck>().where(.any(\.rides, \.length == 20))).count == 1)
                #expect(try context.fetchAll(From<Boat>(), Where("label == 'wet' AND towedBy.plate == 'T1'")).count == 1)
                #expect(try context.fetchAll(From<Truck>(), Where(#Predicate { $0.title == "big" && $0.doors == 2 })).count == 1)
                #expect(try context.queryValue(From<Car>(), .sum(\.doors)) == 6)
                #expect(try context.queryValue(From<Truck>(), .maximum(\.title)) == "big")
                #expect(try context.queryValue(From<Truck>(), Select<Double>(.sum(\Truck.mass))) == 1)
                #expect(try context.queryGroups(From<Truck>(), by: \.doors, .count).map { $0.key } == [2])
                #expect(try context.fetchAll(From<Ride>(), Where(\.car?.title == "big")).count == 2)
                #expect(try context.fetchAll(From<Trailer>(), Where(\.truck?.title == "big")).count == 1)
            }
        }
    }

    @Test func changesAreSavedAndValidatedByClass() throws {
        for stack in try stacks() {
            try stack.performAndWait { transaction throws in
                let truck = try #require(try transaction.fetchOne(From<Truck>()))
                truck.mass += 1
                truck.title = "huge"
                #expect(truck.changedKeys == ["weight", "label"])
                #expect(try transaction.fetchAll(From<Car>(), Where(\.title == "huge")).count == 1)
            }
            try stack.readAndWait { context throws in #expect(try context.fetchOne(From<Truck>())?.mass == 2) }
            do {
                try stack.performAndWait { try $0.create(Into<Truck>()).plate = "T2" }
                Issue.record("a truck without a load was committed")
            } catch let error as StoreError {
                #expect((error.code, error.attribute) == (.constraint, "load"))
            }
            do {
                try stack.performAndWait { transaction throws in
                    let truck = try transaction.create(Into<Truck>())
                    (truck.plate, truck.load) = ("T2", -1)
                }
                Issue.record("a truck was committed whose class refuses it")
            } catch let error as StoreError {
                #expect(error.code == .constraint && error.message.contains("is negative"))
            }
            try stack.performAndWait { transaction throws in try transaction.deleteAll(From<Truck>()) }
            try stack.readAndWait { context throws in
                #expect(try context.fetchCount(From<Ride>()) == 0)
                #expect(try context.fetchOne(From<Trailer>())?.truck == nil)
                #expect(try context.fetchOne(From<Boat>())?.towedBy == nil)
            }
        }
    }

    @Test func theEntityCoversTheWholeHierarchy() throws {
        let entity = try #require(Vehicle._$hierarchy?.entity)
        #expect(
            entity.properties.map { $0.name } == [
                "plate", "label", "garage", "towedBy", "tows", "doors", "fuel", "extras", "rides", "load", "weight", "trailer", "_entity",
            ])
        #expect(entity.indexes.map { $0.fields } == [["label", "plate"], ["label", "doors"]])
        #expect(entity.hierarchy?.subentities.map { $0.name } == ["Automobile", "Truck", "Boat"])
        #expect(Truck._$storedName("title") == "label")
        #expect(Truck._$storedName("mass") == "weight")
    }

    @Test func aClassThatIsNotListedHasNoObjects() throws {
        for stack in try stacks() {
            do {
                try stack.performAndWait { transaction throws in _ = try transaction.create(Into<Bus>()) }
                Issue.record("an object of a class was made that no hierarchy lists")
            } catch let error as StoreError {
                #expect(error.code == .invalidSchema)
            }
        }
    }

    @Test func aHierarchyThatDoesNotHoldTogetherIsRefused() throws {
        func refusal(_ models: any Model.Type...) -> String {
            do {
                _ = try DataStack(Schema("x", models))
                return ""
            } catch { return (error as? StoreError).map { "\($0.code): \($0.message)" } ?? "\(error)" }
        }
        let unlisted = refusal(Vehicle.self, Bus.self, Garage.self, Ride.self, Trailer.self)
        #expect(unlisted.contains("invalidSchema") && unlisted.contains("name \"Bus\" among the subentities of Car"), "\(unlisted)")
        let clash = refusal(ListingParent.self)
        #expect(clash.contains("ListingParent.title and ListedChild.Title") && clash.contains("`name:`"), "\(clash)")
        #expect(refusal(Unmarked.self).contains("mark it with @Model"))
        #expect(refusal(Vehicle.self, Truck.self, Garage.self, Ride.self, Trailer.self) == "")
    }
}
