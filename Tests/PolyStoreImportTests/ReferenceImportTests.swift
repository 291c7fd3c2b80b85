import PolyStore
import TestSupport
import Testing

@Suite
struct ReferenceImportTests {
    @Test(arguments: Backend.forObjectLayer)
    func referencesForwardsBackwardsAndToOneself(_ backend: Backend) throws {
        let world = try World(backend)
        try world.stack.performAndWait { transaction throws in
            // Cities first: their countries are imported later in the transaction.
            _ = try transaction.importUniqueObjects(
                Into<City>(),
                from: [
                    CitySource(number: 1, name: "one", country: "B", centre: 3),
                    CitySource(number: 2, name: "two", country: "A", centre: 2),
                    CitySource(number: 3, name: "three", country: "B", centre: 1, route: [3, 1, 2, 3]),
                ])
            _ = try transaction.importUniqueObjects(
                Into<Country>(), from: [CountrySource(code: "A", neighbours: ["B", "C"]), CountrySource(code: "B", neighbours: ["A"])])
            _ = try transaction.importUniqueObjects(Into<Country>(), from: [CountrySource(code: "C", neighbours: ["A"])])
        }
        #expect(try world.cities() == ["1 one 1 B 3", "2 two 1 A 2", "3 three 1 B 1"])
        try world.stack.readAndWait { context throws in
            let countries = try context.fetchAll(From<Country>().orderBy(.ascending(\.code)))
            #expect(countries.map { $0.neighbours.map(\.code).sorted() } == [["B", "C"], ["A"], ["A"]])
            #expect(try context.fetchOne(From<City>(), Where(\.number == 3))?.route.map(\.number) == [3, 1, 2])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func missingTargets(_ backend: Backend) throws {
        let world = try World(backend)
        let error = #expect(throws: StoreError.self) {
            try world.stack.performAndWait { transaction throws in
                _ = try transaction.importUniqueObject(Into<City>(), from: CitySource(number: 1, country: "X"))
            }
        }
        #expect(error?.code == .notFound)
        #expect(
            error?.message.contains("Country \"X\"") == true && error?.message.contains("City.country of a new object") == true,
            "\(error?.message ?? "")")
        #expect(error?.violations.map(\.message).allSatisfy { $0.contains("City.country of a new object") } == true)
        // An object of the store is named by its id.
        try world.stack.performAndWait { transaction throws in
            _ = try transaction.importUniqueObject(Into<City>(), from: CitySource(number: 1))
        }
        let city = try world.stack.readAndWait { try $0.fetchObjectID(From<City>()) }
        let updating = expectError(.notFound) {
            try world.stack.performAndWait { transaction throws in
                _ = try transaction.importUniqueObject(Into<City>(), from: CitySource(number: 1, country: "X"))
            }
        }
        #expect(updating?.message.contains("City.country of object \(try #require(city).rowID)") == true, "\(String(describing: updating))")
        try world.stack.performAndWait { _ = try $0.deleteAll(From<City>()) }
        #expect(try world.cities() == [])
        try world.stack.performAndWait { transaction throws in
            _ = try transaction.importUniqueObjects(
                Into<City>(),
                from: [
                    CitySource(number: 1, name: "a", country: "X", ifMissing: .ignore),
                    CitySource(number: 2, name: "b", country: "Y", centre: 9, route: [8, 1], ifMissing: .createStub),
                ])
            // A later import in the same transaction updates the stub.
            let stub = try transaction.importUniqueObject(Into<Country>(), from: CountrySource(code: "Y", name: "Yonder"))
            #expect(try transaction.fetchOne(From<City>(), Where(\.number == 2))?.country === stub)
        }
        #expect(try world.cities() == ["1 a 1 - 0", "2 b 1 Y 9", "8  0 - 0", "9  0 - 0"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func nestedSourcesAreImportedTogether(_ backend: Backend) throws {
        let world = try World(backend)
        try world.stack.performAndWait { transaction throws in
            _ = try transaction.importUniqueObjects(
                Into<City>(),
                from: (1...4).map { CitySource(number: $0, name: "c", nested: CountrySource(code: $0 < 3 ? "A" : "B", name: "from \($0)")) }
            )
        }
        #expect(try world.cities() == ["1 c 1 A 0", "2 c 1 A 0", "3 c 1 B 0", "4 c 1 B 0"])
        let names = try world.stack.readAndWait { try $0.fetchAll(From<Country>().orderBy(.ascending(\.code))).map(\.name) }
        #expect(names == ["from 2", "from 4"])
    }

    /// An import within an update inserts an object that is a later source of the outer call.
    @Test(arguments: Backend.forObjectLayer)
    func importsInsideOfImports(_ backend: Backend) throws {
        let world = try World(backend)
        try world.stack.performAndWait { transaction throws in
            _ = try transaction.importUniqueObjects(
                Into<City>(),
                from: [
                    CitySource(
                        number: 1, name: "outer", twin: [CitySource(number: 2, name: "inner"), CitySource(number: 3, name: "inner")]),
                    CitySource(number: 2, name: "again"),
                    CitySource(number: 4, name: "last", twin: [CitySource(number: 1, name: "changed")]),
                ])
        }
        #expect(try world.cities() == ["1 changed 2 - 0", "2 again 2 - 0", "3 inner 1 - 0", "4 last 1 - 0"])
    }

    /// The newest of several references of one relationship wins, whenever each is resolved.
    @Test(arguments: Backend.forObjectLayer)
    func theNewestReferenceCounts(_ backend: Backend) throws {
        let world = try World(backend)
        try world.stack.performAndWait { transaction throws in
            _ = try transaction.importUniqueObjects(Into<Country>(), from: [CountrySource(code: "A"), CountrySource(code: "B")])
        }
        try world.stack.performAndWait { transaction throws in
            func city(_ number: Int, _ country: String?) throws {
                _ = try transaction.importUniqueObject(Into<City>(), from: CitySource(number: number, country: country))
            }
            try city(1, "late")
            try city(1, "A")
            try city(2, "A")
            try city(2, "late")
            try city(3, "late")
            try city(3, nil)
            _ = try transaction.importUniqueObject(Into<Country>(), from: CountrySource(code: "late"))
            try city(4, "B")
        }
        #expect(try world.cities() == ["1  2 A 0", "2  2 late 0", "3  2 - 0", "4  1 B 0"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func referencesOutsideOfImports(_ backend: Backend) throws {
        let world = try World(backend)
        try world.stack.performAndWait { transaction throws in
            let city = try transaction.create(Into<City>())
            city.number = 1
            try transaction.reference(Into<Country>(), uniqueID: "A").assign(to: \.country, on: city)
            let country = try transaction.create(Into<Country>())
            country.code = "A"
            #expect(city.country == nil)
            try transaction.resolveReferences()
            #expect(city.country === country)
            var found: [Country?] = []
            try transaction.reference(Into<Country>(), uniqueID: "A").resolve { found.append($0) }
            try transaction.reference(Into<Country>(), uniqueID: nil).resolve { found.append($0) }
            #expect(found.count == 2 && found[0] === country && found[1] == nil)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func referencesAreAppendedAndResolvedInTheOrderOfTheIDs(_ backend: Backend) throws {
        let world = try World(backend)
        try world.stack.performAndWait { transaction throws in
            let cities = try (1...4).map { number in
                let city = try transaction.create(Into<City>())
                city.number = number
                return city
            }
            cities[0].route = [cities[3]]
            try transaction.references(Into<City>(), uniqueIDs: [3, 99, 2, 3], ifMissing: .ignore).append(to: \.route, on: cities[0])
            try transaction.references(Into<City>(), uniqueIDs: []).append(to: \.route, on: cities[0])
            var found: [[City]] = []
            try transaction.references(Into<City>(), uniqueIDs: [2, 98, 1], ifMissing: .ignore).resolve { found.append($0) }
            try transaction.references(Into<City>(), uniqueIDs: []).resolve { found.append($0) }
            try transaction.resolveReferences()
            #expect(cities[0].route.map(\.number) == [4, 3, 2])
            #expect(found.map { $0.map(\.number) }.contains([2, 1]) && found.contains([]) && found.count == 2)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func everyKindOfTransaction(_ backend: Backend) async throws {
        let world = try World(backend)
        let stack = world.stack
        @Sendable func source(_ number: Int) -> CitySource { CitySource(number: number, name: "n", country: "C", ifMissing: .createStub) }
        @Sendable func forward(_ transaction: Transaction, _ number: Int) throws {
            try transaction.importUniqueObject(Into<City>(), from: CitySource(number: number, name: "n", country: "D\(number)"))
            try transaction.importUniqueObject(Into<Country>(), from: CountrySource(code: "D\(number)"))
        }
        try await stack.perform { transaction throws in _ = try transaction.importUniqueObject(Into<City>(), from: source(1)) }
        try await Task.detached {
            _ = try stack.beginSynchronous { transaction throws in
                try transaction.importUniqueObjects(Into<City>(), from: [source(1), source(2)])
                try forward(transaction, 11)
                try transaction.commit()
            }
        }.value
        let draft = stack.beginUnsafe()
        try draft.importUniqueObjects(Into<City>(), from: [source(2), source(3)])
        try forward(draft, 12)
        try await draft.commit()
        try draft.importUniqueObjects(Into<City>(), from: [source(99)])
        draft.rollback()
        try draft.importUniqueObjects(Into<City>(), from: [source(3), source(4)])
        let child = draft.beginUnsafe()
        try child.importUniqueObjects(Into<City>(), from: [source(4), source(5)])
        try forward(child, 13)
        try await child.commit()
        try await draft.commit()
        #expect(
            try world.cities() == [
                "1 n 2 C 0", "2 n 2 C 0", "3 n 2 C 0", "4 n 2 C 0", "5 n 1 C 0", "11 n 1 D11 0", "12 n 1 D12 0", "13 n 1 D13 0",
            ])
    }

    /// Another transaction can delete an object that an unqueued transaction has resolved.
    @Test(arguments: Backend.forObjectLayer)
    func targetsThatOthersHaveDeletedAreNotUsedAgain(_ backend: Backend) throws {
        let world = try World(backend)
        try world.stack.performAndWait { transaction throws in
            _ = try transaction.importUniqueObject(Into<Country>(), from: CountrySource(code: "A"))
        }
        let draft = world.stack.beginUnsafe()
        try draft.importUniqueObject(Into<City>(), from: CitySource(number: 1, country: "A", ifMissing: .ignore))
        try world.stack.performAndWait { transaction throws in _ = try transaction.deleteAll(From<Country>()) }
        draft.refresh()
        let city = try draft.importUniqueObject(Into<City>(), from: CitySource(number: 2, country: "A", ifMissing: .createStub))
        #expect(city?.country?.isInserted == true)
    }
}
