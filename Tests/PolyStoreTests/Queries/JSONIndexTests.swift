import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

@Model
final class Traveller {
    var name: String = ""
    var site: Site = Site()
    var home: Site?
    var renamed: Renamed = Renamed()
    #Index<Traveller>(\.site.city)
    #Index<Traveller>(\.home?.floor, \.name)
    #Index<Traveller>(\.name, \.site.position.lat)
    #Index<Traveller>(\.site.kind)
    #Index<Traveller>(\.site.since)
    #Index<Traveller>(\.site.large)
    #Index<Traveller>(\.renamed.plain)
}

/// Of each class of ``RefusedIndexTests``, the index is refused when the schema is made.
@Model
final class TravellerByKey {
    var renamed: Renamed = Renamed()
    #Index<TravellerByKey>(\.renamed.city)
}

@Model
final class TravellerByValue {
    var inverted: Inverted = Inverted()
    #Index<TravellerByValue>(\.inverted.amount)
}

@Model
final class TravellerByArray {
    var site: Site = Site()
    #Index<TravellerByArray>(\.site.tags)
}

@Model
final class TravellerByStruct {
    var site: Site = Site()
    #Index<TravellerByStruct>(\.site.position)
}

@Model
final class TravellerByComputed {
    var site: Site = Site()
    #Index<TravellerByComputed>(\.site.title)
}

@Model
final class TravellerByText {
    var name: String = ""
    #Index<TravellerByText>(\.name.count)
}

/// Indexes on fields of Codable values.
@Suite struct JSONIndexTests {
    private struct World {
        let stack: DataStack
        private let folder: Folder

        init(_ backend: Backend) throws {
            folder = try Folder()
            stack = try DataStack(Schema("Travellers", Traveller.self))
            try stack.addStore(backend.store(in: folder))
            try stack.performAndWait { transaction in
                for number in 0..<400 {
                    try transaction.create(Into<Traveller>()) {
                        $0.name = "n\(number % 3)"
                        $0.site.city = "c\(number % 100)"
                        $0.site.position.lat = Double(number % 50)
                        $0.site.kind = number % 40 == 0 ? .office : .home
                        $0.site.since = Date(timeIntervalSinceReferenceDate: Double(number))
                        $0.site.large = UInt64.max - UInt64(number % 100)
                        $0.home = number % 4 == 0 ? nil : $0.site
                        $0.home?.floor = number % 80
                        $0.renamed.plain = "p\(number)"
                    }
                }
            }
        }
    }

    @Test func theMacroDeclaresFieldsWithTheTypesOfTheProperties() {
        #expect(
            Traveller._$entity.indexes == [
                IndexDescription(parts: [.json("site", ["city"], as: .string)]),
                IndexDescription(parts: [.json("home", ["floor"], as: .int64), "name"]),
                IndexDescription(parts: ["name", .json("site", ["position", "lat"], as: .double)]),
                IndexDescription(parts: [.json("site", ["kind"], as: .string)]),
                IndexDescription(parts: [.json("site", ["since"], as: .date)]),
                IndexDescription(parts: [.json("site", ["large"], as: .uint64)]),
                IndexDescription(parts: [.json("renamed", ["plain"], as: .string)]),
            ])
    }

    @Test func aLockedSchemaIsSourceCodeOfTheIndexes() {
        let text = "\(Schema("Travellers", Traveller.self).locked)"
        for index in [
            "IndexDescription(parts: [.json(\"site\", [\"city\"], as: .string)])",
            "IndexDescription(parts: [\"name\", .json(\"site\", [\"position\", \"lat\"], as: .double)])",
        ] { #expect(text.contains(index), "\(text)") }
    }

    struct Search: Sendable, CustomTestStringConvertible {
        let name: String
        let index: String?
        let count: Int
        /// The maximum number of examined rows.
        let examined: Int
        let chain: @Sendable () -> FetchChain<Traveller>
        var testDescription: String { name }
    }

    static let searches: [Search] = [
        Search(name: "column", index: "Traveller_site.city", count: 4, examined: 8) { From<Traveller>().where { $0.site.city == "c7" } },
        Search(name: "key path", index: "Traveller_site.city", count: 4, examined: 8) { From<Traveller>().where(\.site.city == "c7") },
        Search(name: "format string", index: "Traveller_site.city", count: 4, examined: 8) {
            From<Traveller>().where("site.city == %@", "c7")
        },
        Search(name: "list", index: "Traveller_site.city", count: 8, examined: 16) {
            From<Traveller>().where { $0.site.city.isIn(["c7", "c8"]) }
        },
        Search(name: "prefix", index: "Traveller_site.city", count: 44, examined: 60) {
            From<Traveller>().where { $0.site.city.beginsWith("c7") }
        },
        Search(name: "range", index: "Traveller_site.since", count: 5, examined: 10) {
            From<Traveller>().where { $0.site.since < Date(timeIntervalSinceReferenceDate: 5) }
        },
        Search(name: "enum", index: "Traveller_site.kind", count: 10, examined: 20) { From<Traveller>().where { $0.site.kind == .office } },
        Search(name: "two components", index: "Traveller_name_site.position.lat", count: 3, examined: 8) {
            From<Traveller>().where { $0.name == "n1" && $0.site.position.lat == 7 }
        },
        Search(name: "optional", index: "Traveller_home.floor_name", count: 5, examined: 10) {
            From<Traveller>().where { $0.home.floor == 7 }
        },
        Search(name: "null", index: "Traveller_home.floor_name", count: 100, examined: 110) {
            From<Traveller>().where { $0.home.floor == nil }
        },
        Search(name: "renamed type", index: "Traveller_renamed.plain", count: 1, examined: 2) {
            From<Traveller>().where { $0.renamed.plain == "p7" }
        },
        Search(name: "order", index: "Traveller_site.since", count: 3, examined: 8) {
            From<Traveller>().orderBy { $0.site.since.descending }.limit(3)
        },
        Search(name: "order by two", index: "Traveller_name_site.position.lat", count: 3, examined: 8) {
            From<Traveller>().orderBy { ($0.name, $0.site.position.lat) }.limit(3)
        },
        Search(name: "order after a condition", index: "Traveller_name_site.position.lat", count: 3, examined: 8) {
            From<Traveller>().where { $0.name == "n1" }.orderBy { $0.site.position.lat }.limit(3)
        },
        Search(name: "another type", index: nil, count: 5, examined: 400) { From<Traveller>().where("home.floor == 7") },
        Search(name: "another field", index: nil, count: 400, examined: 400) { From<Traveller>().where { $0.site.floor == 0 } },
    ]

    @Test(arguments: Backend.allCases, searches) func plansNameTheIndex(_ backend: Backend, _ search: Search) throws {
        let world = try World(backend)
        try world.stack.readAndWait { context in
            let found = try context.fetchAll(search.chain())
            #expect(found.count == search.count)
            let plan = try #require(try context.plans(search.chain()).first)
            #expect(plan.accesses.map(\.index) == [search.index], "\(plan)")
            #expect(plan.rowsExamined ?? .max <= search.examined, "\(plan)")
            #expect(plan.rowsReturned == search.count, "\(plan)")
        }
    }

    /// SQLite would order unsigned integers with a sign, so that it keeps no such index; the record layer does.
    @Test(arguments: Backend.allCases) func unsignedIntegers(_ backend: Backend) throws {
        let world = try World(backend)
        let chain: FetchChain<Traveller> = From<Traveller>().where { $0.site.large > UInt64.max - 2 }
        let index = backend == .sqlite ? nil : "Traveller_site.large"
        try world.stack.readAndWait { context throws in
            #expect(try context.fetchAll(chain).count == 8)
            #expect(try context.plans(chain)[0].accesses.map(\.index) == [index])
        }
    }

    @Test(arguments: Backend.allCases) func conditionsAreNamedInPlans(_ backend: Backend) throws {
        let world = try World(backend)
        try world.stack.readAndWait { context in
            let plan = try context.plans(
                From<Traveller>().where { $0.name == "n1" && $0.site.position.lat > 7 && $0.site.position.lat < 9 })[0]
            #expect(plan.accesses.map(\.condition) == ["name=? AND site.position.lat>? AND site.position.lat<?"], "\(plan)")
            let equal = try context.plans(From<Traveller>().where { $0.site.city == "c1" })[0]
            #expect(equal.accesses.map(\.condition) == ["site.city=?"], "\(equal)")
        }
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let model: any Model.Type
        let says: [String]
        var testDescription: String { "\(model)" }
    }

    static let refused: [Refused] = [
        Refused(
            model: TravellerByKey.self,
            says: ["TravellerByKey.renamed.city", "Renamed has the keys", "Give the property the name of its key"]),
        Refused(model: TravellerByValue.self, says: ["TravellerByValue.inverted.amount", "Give the property the name of its key"]),
        Refused(model: TravellerByArray.self, says: ["TravellerByArray.site.tags", "not a single value"]),
        Refused(model: TravellerByStruct.self, says: ["TravellerByStruct.site.position", "not a single value"]),
        Refused(model: TravellerByComputed.self, says: ["TravellerByComputed.site.title", "not stored"]),
        Refused(model: TravellerByText.self, says: ["TravellerByText.name.count", "has no fields"]),
    ]

    @Test(arguments: refused) func indexesOfOtherPropertiesAreRefused(_ refused: Refused) throws {
        let folder = try Folder()
        let error = try #require(throws: StoreError.self) {
            let stack = try DataStack(Schema("Refused", refused.model))
            try stack.addStore(Backend.memory.store(in: folder))
        }
        #expect(error.code == .invalidSchema)
        for part in refused.says { #expect(error.message.contains(part), "\(error.message) does not say \(part)") }
    }
}
