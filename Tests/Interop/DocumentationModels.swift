/// The models and values that the examples of the documentation use. `check_guides.py` compiles this file as a module.
import Foundation
import PolyStore

@Model
final class Person {
    @Attribute(.unique) var email: String
    @Attribute(.indexed) var age: Int = 0
    var name: String = ""
    var nickname: String?
    var city: String = ""
    var location: String = ""
    var born: Date?
    @Relationship(inverse: "people") var department: Department?
    @Relationship(inverse: "friends") var friends: Set<Person>
}

@Model
final class Department {
    var title: String = ""
    @Relationship(deleteRule: .deny) var people: Set<Person>
}

@Model
final class Country {
    @Attribute(.unique) var code: String
    var name: String = ""
    @Relationship(inverse: "country") var cities: Set<City>
}

@Model
final class City {
    @Attribute(.unique) var geonameID: Int
    @Attribute(.indexed) var name: String = ""
    var population: Int = 0
    @Relationship var country: Country?
    @Relationship var neighbours: Set<Country>
    @Relationship var address: Address?
}

@Model
final class Address {
    @Attribute(.unique) var key: String
}

@Model
final class Visit {
    var date: Date?
    @Relationship var city: City?
}

@Model
final class Order {
    var amount: Double = 0
}

@Model
final class Meeting {
    var start: Date = Date()
    var end: Date = Date()
}

extension Country: ImportableUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<Country, String> { \.code }

    static func uniqueID(from source: [String: JSONValue], in transaction: Transaction) throws -> String? { source["code"]?.string }

    func update(from source: [String: JSONValue], in transaction: Transaction) throws {}
}

extension Address: ImportableUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<Address, String> { \.key }

    static func uniqueID(from source: [String: JSONValue], in transaction: Transaction) throws -> String? { source["key"]?.string }

    func update(from source: [String: JSONValue], in transaction: Transaction) throws {}
}

struct CitySource: Sendable {
    var name: String
    var countryCode: String
    var neighbours: [String]
    var address: [String: JSONValue]
}

struct SeatSource: Sendable {
    var hall: String
    var number: Int
}

@MainActor
final class Controller: @preconcurrency ListObserver, @preconcurrency ObjectObserver {
    typealias ListEntity = Person
    typealias ObjectEntity = Person
}

@MainActor
final class DataSource {
    func apply(_ snapshot: ListSnapshot<Person>) {}
}

@MainActor
final class Label {
    var text = ""
}

actor Server {
    func age(of id: ObjectID<Person>) -> Int { 0 }
}

func save(_ token: HistoryToken) throws {}
