import Foundation
import PolyStore
import TestSupport

@Model
final class Country {
    @Attribute(.unique) var code: String
    var name: String = ""
    @Relationship(inverse: "neighbours") var neighbours: Set<Country>
    @Relationship(inverse: "country") var cities: Set<City>
}

@Model
final class City {
    @Attribute(.unique) var number: Int
    var name: String = ""
    var population: Int = 0
    var updates: Int = 0
    @Relationship var country: Country?
    @Relationship(inverse: "suburbs") var centre: City?
    @Relationship var suburbs: Set<City>
    @Relationship var route: [City]
}

/// Without a unique id: each source creates an object.
@Model
final class Visit {
    var place: String = ""
    @Relationship var city: City?
}

@Model
final class Seat {
    #Unique<Seat>(\.hall, \.number)
    var hall: String = ""
    var number: Int = 0
    var holder: String = ""
}

enum Rank: String, Codable, Sendable, ConvertibleFromSource { case low, high }

@Model
final class Badge {
    @Attribute(.unique) var rank: Rank = Rank.low
    @Attribute(.unique) var tag: String?
    var title: String = ""
    /// Without an index.
    var label: String = ""
}

let schema = Schema("Import", Country.self, City.self, Visit.self, Seat.self, Badge.self)

/// A stack with one store.
final class World: Sendable {
    let stack: DataStack
    let folder: Folder

    init(_ backend: Backend) throws {
        folder = try Folder()
        stack = try DataStack(schema)
        try stack.addStore(backend.store(in: folder))
    }

    func cities() throws -> [String] {
        try stack.readAndWait { context throws in
            try context.fetchAll(From<City>().orderBy(.ascending(\.number))).map {
                "\($0.number) \($0.name) \($0.updates) \($0.country?.code ?? "-") \($0.centre?.number ?? 0)"
            }
        }
    }
}

struct ImportFailure: Error {}
