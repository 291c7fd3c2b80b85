import PolyStore
import PolyStoreMemory
import TestSupport
import Testing

@Suite
struct UniqueImportTests {
    @Test(arguments: Backend.forObjectLayer)
    func updatesExistingObjectsAndInsertsNewOnes(_ backend: Backend) throws {
        let world = try World(backend)
        try world.stack.performAndWait { transaction throws in
            _ = try transaction.importUniqueObjects(
                Into<City>(), from: [CitySource(number: 2, name: "two"), CitySource(number: 4, name: "four")])
        }
        let numbers = try world.stack.performAndWait { transaction throws in
            let imported = try transaction.importUniqueObjects(
                Into<City>(), from: (1...5).reversed().map { (number: Int) in CitySource(number: number, name: "new \(number)") })
            #expect(imported.map(\.isInserted) == [true, false, true, false, true])
            return imported.map(\.number)
        }
        #expect(numbers == [5, 4, 3, 2, 1])
        #expect(try world.cities() == ["1 new 1 1 - 0", "2 new 2 2 - 0", "3 new 3 1 - 0", "4 new 4 2 - 0", "5 new 5 1 - 0"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func ofDuplicatesTheLastSourceCountsAtThePositionOfTheFirst(_ backend: Backend) throws {
        let world = try World(backend)
        let names = try world.stack.performAndWait { transaction throws in
            try transaction.importUniqueObjects(
                Into<City>(),
                from: [
                    CitySource(number: 1, name: "first"), CitySource(number: 2, name: "other"), CitySource(number: 1, name: "second"),
                    CitySource(number: nil, name: "none"), CitySource(number: 1, name: "last"),
                ]
            ).map(\.name)
        }
        #expect(names == ["last", "other"])
        #expect(try world.cities() == ["1 last 1 - 0", "2 other 1 - 0"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func skippedSourcesLeaveTheOthers(_ backend: Backend) throws {
        let world = try World(backend)
        try world.stack.performAndWait { transaction throws in
            _ = try transaction.importUniqueObject(Into<City>(), from: CitySource(number: 1, name: "kept"))
            let imported = try transaction.importUniqueObjects(
                Into<City>(),
                from: [
                    CitySource(number: 1, name: "changed", skipsUpdate: true), CitySource(number: 2, name: "two", skipsInsert: true),
                    CitySource(number: 3, name: "three", skipsUpdate: true),
                ])
            #expect(imported.map(\.number) == [3])
            #expect(try transaction.importUniqueObject(Into<City>(), from: CitySource(number: nil)) == nil)
        }
        #expect(try world.cities() == ["1 kept 1 - 0", "3 three 1 - 0"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func anErrorEndsTheImportAndTheTransactionDecides(_ backend: Backend) throws {
        let world = try World(backend)
        let sources = [CitySource(number: 1, name: "one"), CitySource(number: 2, name: "two", fails: true), CitySource(number: 3)]
        #expect(throws: ImportFailure.self) {
            try world.stack.performAndWait { transaction throws in _ = try transaction.importUniqueObjects(Into<City>(), from: sources) }
        }
        #expect(try world.cities() == [])
        try world.stack.performAndWait { transaction throws in
            #expect(throws: ImportFailure.self) { try transaction.importUniqueObjects(Into<City>(), from: sources) }
            // Thrown before any object is changed.
            #expect(throws: ImportFailure.self) {
                try transaction.importUniqueObjects(Into<City>(), from: [CitySource(number: 9), CitySource(failsID: true)])
            }
        }
        #expect(try world.cities() == ["1 one 1 - 0", "2 two 1 - 0"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func preProcessDropsReplacesAndAdds(_ backend: Backend) throws {
        let world = try World(backend)
        let sources = [3, 1, 2, 1].enumerated().map { CitySource(number: $1, name: "\($0)") }
        try world.stack.performAndWait { transaction throws in
            let dropped = try transaction.importUniqueObjects(
                Into<City>(), from: sources,
                preProcess: { sources in
                    #expect(sources.mapValues(\.name) == [3: "0", 1: "3", 2: "2"])
                    var sources = sources
                    sources[2] = nil
                    sources[1]?.name = "replaced"
                    sources[7] = CitySource(number: 7, name: "added")
                    return sources
                })
            #expect(dropped.map(\.name) == ["0", "replaced", "added"])
            let ordered = try transaction.importUniqueObjects(
                Into<City>(), from: sources, preProcessInOrder: { pairs in pairs.sorted { $0.id < $1.id } })
            #expect(ordered.map(\.number) == [1, 2, 3])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func pendingChangesCount(_ backend: Backend) throws {
        let world = try World(backend)
        try world.stack.performAndWait { transaction throws in
            for number in 1...4 { _ = try transaction.importUniqueObject(Into<City>(), from: CitySource(number: number, name: "old")) }
        }
        try world.stack.performAndWait { transaction throws in
            let byHand = try transaction.create(Into<City>())
            byHand.number = 10
            let cities = try transaction.fetchAll(From<City>().where(\.number < 10).orderBy(.ascending(\.number)))
            cities[0].number = 11  // 1 is free
            try transaction.delete(cities[1])  // 2 is free
            let imported = try transaction.importUniqueObjects(
                Into<City>(), from: [10, 11, 1, 2, 3].map { CitySource(number: $0, name: "new") })
            #expect(imported[0] === byHand)
            #expect(imported[1] === cities[0])
            #expect(imported.map(\.isInserted) == [true, false, true, true, false])
        }
        #expect(try world.cities().map { String($0.prefix(6)) } == ["1 new ", "2 new ", "3 new ", "4 old ", "10 new", "11 new"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func compoundIdsAndIdsOfEnums(_ backend: Backend) throws {
        let world = try World(backend)
        func holders() throws -> [String] {
            try world.stack.readAndWait { context throws in
                try context.fetchAll(From<Seat>().orderBy(.ascending(\.hall), .ascending(\.number))).map {
                    "\($0.hall)\($0.number) \($0.holder)"
                }
            }
        }
        try world.stack.performAndWait { transaction throws in
            _ = try transaction.importUniqueObjects(Into<Seat>(), from: [("a", 1, "x"), ("b", 1, "y"), ("a", 2, "z")])
        }
        try world.stack.performAndWait { transaction throws in
            let imported = try transaction.importUniqueObjects(
                Into<Seat>(), from: [("b", 2, "p"), ("a", 2, "q"), ("b", 1, "r"), ("a", 2, "s")])
            #expect(imported.map(\.holder) == ["new p", "s", "r"])
        }
        #expect(try holders() == ["a1 new x", "a2 s", "b1 r", "b2 new p"])
        try world.stack.performAndWait { transaction throws in
            _ = try transaction.importUniqueObjects(Into<Badge>(), from: [(.high, "one"), (.low, "two")])
        }
        let titles = try world.stack.performAndWait { transaction throws in
            try transaction.importUniqueObjects(Into<Badge>(), from: [(.low, "three")]).map { "\($0.title) \($0.isInserted)" }
        }
        #expect(titles == ["three false"])
    }

    /// Canonically equivalent text with different bytes is a different id, as in the store.
    @Test(arguments: Backend.forObjectLayer)
    func idsAreComparedByTheirBytes(_ backend: Backend) throws {
        let world = try World(backend)
        let names = try world.stack.performAndWait { transaction throws in
            try transaction.importUniqueObjects(
                Into<Country>(), from: [CountrySource(code: "\u{e9}", name: "one"), CountrySource(code: "e\u{301}", name: "two")]
            ).map(\.name)
        }
        #expect(names == ["one", "two"])
        try world.stack.performAndWait { transaction throws in
            let again = try transaction.importUniqueObjects(Into<Country>(), from: [CountrySource(code: "e\u{301}", name: "three")])
            #expect(again.map(\.isInserted) == [false])
        }
        let count = try world.stack.readAndWait { try $0.fetchCount(From<Country>()) }
        #expect(count == 2)
    }

    @Test(arguments: Backend.forObjectLayer)
    func objectsWithoutIds(_ backend: Backend) throws {
        let world = try World(backend)
        try world.stack.performAndWait { transaction throws in
            let visits = try transaction.importObjects(Into<Visit>(), from: ["a", "", "b", "a"])
            #expect(visits.map(\.place) == ["a", "b", "a"])
            #expect(try transaction.importObject(Into<Visit>(), from: "") == nil)
            #expect(try transaction.importObject(visits[0], from: "c"))
            #expect(try !transaction.importObject(visits[0], from: ""))
            #expect(visits[0].place == "c")
            #expect(throws: ImportFailure.self) { try transaction.importObjects(Into<Visit>(), from: ["d", "fail", "e"]) }
        }
        let places = try world.stack.readAndWait { try $0.fetchAll(From<Visit>()).map(\.place) }
        #expect(places == ["c", "b", "a", "d", ""])
    }

    @Test func intoAnObjectThatExists() throws {
        let world = try World(.memory)
        try world.stack.performAndWait { transaction throws in
            let city = try transaction.create(Into<City>())
            city.number = 1
            #expect(try transaction.importObject(city, from: CitySource(number: 2, name: "x")))
            #expect(city.number == 1)
            #expect(city.name == "x")
            #expect(try !transaction.importObject(city, from: CitySource(number: 1, skipsUpdate: true)))
            try transaction.delete(city)
            #expect(code { try transaction.importObject(city, from: CitySource(number: 1)) } == .notFound)
        }
    }

    @Test func wrongUsesAreErrors() throws {
        let world = try World(.memory)
        let error = failure {
            try world.stack.performAndWait { transaction throws in
                _ = try transaction.importUniqueObject(Into<Label>(), from: "x")
            }
        }
        #expect(error?.code == .storeNotFound)
        let stack = try DataStack(Schema("Labels", Label.self))
        try stack.addStore(.inMemory())
        let missing = failure { try stack.performAndWait { _ = try $0.importUniqueObject(Into<Label>(), from: "x") } }
        #expect(missing?.code == .misuse)
        #expect(missing?.message.contains("@Attribute(.unique) var text") == true, "\(missing?.message ?? "")")
    }

    func code<R>(_ body: () throws -> R) -> StoreError.Code? { failure { _ = try body() }?.code }
}

/// Its unique id has no index.
@Model
final class Label {
    var text: String = ""
}

extension Label: ImportableUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<Label, String> { \.text }
    static func uniqueID(from source: String, in transaction: Transaction) throws -> String? { source }
    func update(from source: String, in transaction: Transaction) throws {}
}
