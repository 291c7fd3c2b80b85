import Foundation
import PolyStore

/// The queries of the demo, on the main actor, through the view.
@MainActor
struct Tour {
    let stack: DataStack

    func all() async throws {
        try worldMap()
        try largestCities(of: "JP")
        try citiesPerContinent()
        try countriesWithoutNeighbours()
        try largestCapitals()
        try highestAirports()
        try searchedAirports()
        try await rename()
        try await refusedImport()
    }

    private func worldMap() throws {
        heading("Where the cities are")
        map(try stack.view.fetchAll(From<City>()).map { ($0.latitude, $0.longitude) })
    }

    private func largestCities(of iso: String) throws {
        guard let country = try stack.view.fetchOne(From<Country>(), Where(\.iso == iso)) else { return }
        heading("The largest cities of \(country.name), whose languages are \(country.languages.joined(separator: ", "))")
        let cities = try stack.view.fetchAll(
            From<City>().where(\.country == country.objectID).orderBy(.descending(\.population)).limit(10))
        bars(cities.map { ($0.name, Double($0.population), grouped($0.population)) })
        print(
            "  (\(grouped(country.cities.count)) cities, \(grouped(country.airports.count)) airports, neighbours: \(country.neighbours.count))"
        )
    }

    private func citiesPerContinent() throws {
        heading("Cities per continent")
        let rows = try stack.view.fetchAll(From<Continent>()).map { continent in
            let countries = continent.countries.map(\.objectID)
            let count = try stack.view.fetchCount(From<City>(), Where(countries ~= \.country))
            return (continent.name, Double(count), "\(grouped(count)) in \(countries.count) countries")
        }
        bars(rows.sorted { $0.1 > $1.1 })
    }

    private func largestCapitals() throws {
        let capitals = try stack.view.fetchAll(From<City>().where(\.isCapital == true).orderBy(.descending(\.population)))
        heading("\(capitals.count) capitals; the largest")
        bars(capitals.prefix(8).map { ("\($0.name), \($0.country?.name ?? "?")", Double($0.population), grouped($0.population)) })
    }

    private func countriesWithoutNeighbours() throws {
        let islands = try stack.view.fetchAll(From<Country>().orderBy(.ascending(\.name))).filter(\.neighbours.isEmpty)
        heading("\(islands.count) countries without neighbours; the most populous")
        columns(islands.sorted { $0.population > $1.population }.prefix(16).map(\.name))
    }

    private func highestAirports() throws {
        let high = try stack.view.fetchAll(From<Airport>().where(\.elevationFeet > 3000 / 0.3048).orderBy(.descending(\.elevationFeet)))
        heading("\(high.count) airports above 3 000 m; the highest")
        bars(
            high.prefix(8).map { airport in
                let label = "\(airport.code) \(airport.town ?? airport.name)"
                return (label, airport.elevationMetres, "\(Int(airport.elevationMetres)) m, \(airport.country?.name ?? "?")")
            })
    }

    private func searchedAirports() throws {
        let text = "london -heli*"
        let airports = try stack.view.fetchAll(From<Airport>().search(text).limit(6))
        heading("Airports by a full-text search: \(text)")
        columns(airports.map { "\($0.code) \($0.name), \($0.country?.name ?? "?")" })
    }

    private func rename() async throws {
        heading("A change in a transaction, seen by the view")
        guard let city = try stack.view.fetchOne(From<City>().where(.beginsWith(\.name, "Istanbul")).orderBy(.descending(\.population)))
        else { return }
        let id = city.objectID
        let before = city.name
        try await stack.perform(editing: id) { _, city in city.name = "Constantinople" }
        print("  \(before) is now \(city.name): the same object, without another fetch.")
        try await stack.perform(editing: id) { _, city in city.name = before }
        print("  And it is \(city.name) once more.")
    }

    private func refusedImport() async throws {
        heading("An import that is refused as a whole")
        let before = try stack.view.fetchCount(From<City>())
        do {
            try await stack.perform { transaction in
                guard let country = try transaction.fetchOne(From<Country>(), Where(\.iso == "IS")),
                    let taken = try transaction.fetchOne(From<City>(), Where(\.country == country.objectID))
                else { return }
                for number in 0..<100 {
                    let city = try transaction.create(Into<City>())
                    // The last one has the id of an existing city.
                    city.geonameID = number < 99 ? -1 - number : taken.geonameID
                    city.name = "Nowhere \(number)"
                    city.latitude = 0
                    city.longitude = 0
                    city.country = country
                }
            }
        } catch let error as StoreError {
            print("  \(error)")
        }
        let after = try stack.view.fetchCount(From<City>())
        print("  Cities before: \(grouped(before)), after: \(grouped(after)). Nothing of it was kept.")
    }
}
