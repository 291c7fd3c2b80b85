import Foundation
import PeerKit
import PolyStoreCore

/// W14: the atlas of the examples: real data with unevenly distributed relationships and strings.
struct AtlasWorkloads: Sendable {
    private let store: BenchStore
    private var out: Reporter { store.out }

    init(_ store: BenchStore) { self.store = store }

    func all() throws {
        let folder = ProcessInfo.processInfo.environment["ATLAS_DATA"] ?? "../Examples/Atlas/Data"
        let sources = try AtlasSources(folder: folder)
        let stack = try DataStack(Schema("Atlas", Continent.self, Country.self, City.self, Airport.self))
        try stack.addStore(store.configuration("atlas"))
        let count = sources.continents.count + sources.countries.count + sources.cities.count + sources.airports.count
        try out.time("W14", count, note: "import", always: true) {
            try stack.performAndWait { transaction in
                let countries = try Self.countries(sources, transaction)
                try Self.cities(sources, countries, transaction)
                try Self.airports(sources, countries, transaction)
            }
            return try stack.readAndWait { context in
                UInt64(
                    try context.fetchCount(From<Continent>()) + context.fetchCount(From<Country>()) + context.fetchCount(From<City>())
                        + context.fetchCount(From<Airport>()))
            }
        }
        try neighbours(stack)
        try citiesNearLocations(stack, sources)
    }

    private static func countries(_ sources: AtlasSources, _ transaction: Transaction) throws -> [String: Country] {
        var continents: [String: Continent] = [:]
        for source in sources.continents {
            let continent = try transaction.create(Into<Continent>())
            continent.code = source.code
            continent.name = source.name
            continents[source.code] = continent
        }
        var countries: [String: Country] = [:]
        for source in sources.countries {
            let country = try transaction.create(Into<Country>())
            country.iso = source.iso
            country.name = source.name
            country.capital = source.capital.isEmpty ? nil : source.capital
            country.areaKm2 = source.areakm2
            country.population = source.population
            country.languages = source.languages
            country.continent = continents[source.continentcode]
            countries[source.iso] = country
        }
        for source in sources.countries {
            countries[source.iso]?.neighbours.formUnion(source.neighbours.compactMap { countries[$0] })
        }
        return countries
    }

    private static func cities(_ sources: AtlasSources, _ countries: [String: Country], _ transaction: Transaction) throws {
        for source in sources.cities {
            let city = try transaction.create(Into<City>())
            city.geonameID = source.geonameid
            city.name = source.name
            city.latitude = source.latitude
            city.longitude = source.longitude
            city.population = source.population
            city.timeZone = source.timezone
            city.alternateNames = source.alternatenames
            city.country = countries[source.countrycode]
        }
    }

    private static func airports(_ sources: AtlasSources, _ countries: [String: Country], _ transaction: Transaction) throws {
        for source in sources.airports {
            let airport = try transaction.create(Into<Airport>())
            airport.code = source.code
            airport.iata = source.iata.isEmpty ? nil : source.iata
            airport.name = source.name
            airport.town = source.town.isEmpty ? nil : source.town
            airport.elevationFeet = source.elevation
            airport.latitude = source.latitude
            airport.longitude = source.longitude
            airport.country = countries[source.country]
        }
    }

    /// W14n: reads the neighbours of the neighbours of every country, ten times, each time in a new snapshot.
    private func neighbours(_ stack: DataStack) throws {
        let countries = try stack.readAndWait { try $0.fetchObjectIDs(From<Country>()) }
        try out.time("W14n", 10 * countries.count, note: "neighbours of neighbours", always: true) {
            var sum: UInt64 = 0
            for _ in 0..<10 {
                sum &+= try stack.readAndWait { context in
                    var sum: UInt64 = 0
                    for id in countries {
                        guard let country = try context.fetchExisting(id) else { continue }
                        var near: Set<Country> = []
                        for neighbour in country.neighbours { near.formUnion(neighbour.neighbours) }
                        sum &+= near.reduce(UInt64(near.count)) { $0 &+ UInt64($1.population) }
                    }
                    return sum
                }
            }
            return sum
        }
    }

    /// W14p: fetches the cities within half a degree of other cities.
    private func citiesNearLocations(_ stack: DataStack, _ sources: AtlasSources) throws {
        try out.time("W14p", 1000, note: "cities near a location, index by latitude and longitude", always: true) {
            try stack.readAndWait { context in
                var random = SplitMix64(workload: 14)
                var sum: UInt64 = 0
                for _ in 0..<1000 {
                    let city = sources.cities[Int(random.next(below: UInt64(sources.cities.count)))]
                    let (latitude, longitude) = (city.latitude, city.longitude)
                    let found = try context.fetchAll(
                        From<City>(),
                        Where((latitude - 0.5)...(latitude + 0.5) ~= \.latitude && (longitude - 0.5)...(longitude + 0.5) ~= \.longitude))
                    for city in found { sum &+= UInt64(city.geonameID) &+ UInt64(city.name.utf8.count) }
                }
                return sum
            }
        }
    }
}
