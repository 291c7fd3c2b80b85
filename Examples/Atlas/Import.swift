import PolyStore

/// Brings the sources into a stack: a transaction for each kind, so that each is there wholly or not at all.
struct AtlasImport: Sendable {
    let stack: DataStack

    func continentsAndCountries(_ sources: Sources) async throws {
        try await stack.perform { transaction in
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
            // Every country exists now, so neighbours can be named. Being one's neighbour is mutual: the other side follows.
            for source in sources.countries {
                guard let country = countries[source.iso] else { continue }
                country.neighbours.formUnion(source.neighbours.compactMap { countries[$0] })
            }
        }
    }

    func cities(_ sources: [CitySource]) async throws {
        try await stack.perform { transaction in
            let countries = try byCode(transaction)
            for source in sources {
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
    }

    func airports(_ sources: [AirportSource]) async throws {
        try await stack.perform { transaction in
            let countries = try byCode(transaction)
            for source in sources {
                let airport = try transaction.create(Into<Airport>())
                airport.code = source.code
                airport.iata = source.iata.isEmpty ? nil : source.iata
                airport.name = source.name
                airport.town = source.city.isEmpty ? nil : source.city
                airport.elevationFeet = source.elevation
                airport.latitude = source.latitude
                airport.longitude = source.longitude
                airport.country = countries[source.country]
            }
        }
    }
}

private func byCode(_ transaction: Transaction) throws -> [String: Country] {
    Dictionary(uniqueKeysWithValues: try transaction.fetchAll(From<Country>()).map { ($0.iso, $0) })
}
