import PolyStore

struct CountrySource: Sendable {
    var code: String?
    var name = ""
    var neighbours: [String] = []
}

extension Country: ImportableUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<Country, String> { \.code }

    static func uniqueID(from source: CountrySource, in transaction: Transaction) throws -> String? { source.code }

    func update(from source: CountrySource, in transaction: Transaction) throws {
        name = source.name
        try transaction.references(Into<Country>(), uniqueIDs: source.neighbours).assign(to: \.neighbours, on: self)
    }
}

struct CitySource: Sendable {
    var number: Int?
    var name = ""
    var country: String?
    var centre: Int?
    var route: [Int]?
    var nested: CountrySource?
    /// Sources that the update imports.
    var twin: [CitySource] = []
    var skipsInsert = false
    var skipsUpdate = false
    var fails = false
    var failsID = false
    var ifMissing = MissingReference.fail
}

extension City: ImportableUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<City, Int> { \.number }

    static func uniqueID(from source: CitySource, in transaction: Transaction) throws -> Int? {
        if source.failsID { throw ImportFailure() }
        return source.number
    }

    static func shouldInsert(from source: CitySource, in transaction: Transaction) throws -> Bool { !source.skipsInsert }
    static func shouldUpdate(from source: CitySource, in transaction: Transaction) throws -> Bool { !source.skipsUpdate }

    func update(from source: CitySource, in transaction: Transaction) throws {
        name = source.name
        updates += 1
        try transaction.reference(Into<Country>(), uniqueID: source.country, ifMissing: source.ifMissing).assign(to: \.country, on: self)
        try transaction.reference(Into<City>(), uniqueID: source.centre, ifMissing: source.ifMissing).assign(to: \.centre, on: self)
        if let nested = source.nested { try transaction.reference(Into<Country>(), importing: nested).assign(to: \.country, on: self) }
        if let route = source.route {
            try transaction.references(Into<City>(), uniqueIDs: route, ifMissing: source.ifMissing).assign(to: \.route, on: self)
        }
        if !source.twin.isEmpty { try transaction.importUniqueObjects(Into<City>(), from: source.twin) }
        if source.fails { throw ImportFailure() }
    }
}

extension Visit: ImportableObject {
    static func shouldInsert(from source: String, in transaction: Transaction) throws -> Bool { !source.isEmpty }

    func didInsert(from source: String, in transaction: Transaction) throws {
        if source == "fail" { throw ImportFailure() }
        place = source
    }
}

extension Seat: ImportableUniqueObject {
    typealias ImportSource = (String, Int, String)

    static var uniqueIDKeyPath: CompoundUniqueID<Seat, String, Int> { .init(\.hall, \.number) }

    static func uniqueID(from source: ImportSource, in transaction: Transaction) throws -> UniqueIDValues<String, Int>? {
        UniqueIDValues(source.0, source.1)
    }

    func didInsert(from source: ImportSource, in transaction: Transaction) throws { holder = "new " + source.2 }
    func update(from source: ImportSource, in transaction: Transaction) throws { holder = source.2 }
}

extension Badge: ImportableUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<Badge, Rank> { \.rank }

    static func uniqueID(from source: (Rank, String), in transaction: Transaction) throws -> Rank? { source.0 }

    func update(from source: (Rank, String), in transaction: Transaction) throws { title = source.1 }
}
