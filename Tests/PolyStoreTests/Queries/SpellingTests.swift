import Foundation
import PolyStore
import TestSupport
import Testing

struct PostalAddress: Codable, Sendable {
    var street = ""
}

/// A grade with raw values that is Codable too, so that several forms of `== nil` apply to it.
enum Grade: String, Codable, Sendable {
    case low, high
}

@Model
final class Guest {
    var name: String = ""
    var nickname: String?
    var bytes: Data = Data()
    var code: Data?
    var limit: Data = Data()
    var token: UUID = UUID()
    var badge: UUID?
    var address: PostalAddress?
    var labels: [String]?
    var grade: Grade?
    var trade: Trade?
    var score: Double?
    @Relationship(inverse: "friends") var friends: Set<Guest>
    @Relationship(inverse: "guests") var room: Room?
}

@Model
final class Room {
    var title: String = ""
    @Relationship var guests: [Guest]
}

/// The spellings of conditions, orders and transactions, on each backend.
@Suite struct SpellingTests {
    private struct World {
        let stack: DataStack
        private let folder: Folder

        /// Ann, Bob, Cid and Dan. Ann is a friend of Bob and Cid. Ann and Bob are in the room Blue. Ann has an address, labels, a grade and a trade.
        init(_ backend: Backend) throws {
            folder = try Folder()
            stack = try DataStack(Schema("Guests", Guest.self, Room.self))
            try stack.addStore(backend.store(in: folder))
            try stack.performAndWait { transaction in
                let codes: [[UInt8]?] = [nil, [1], [1, 0], [255]]
                let all = try ["Ann", "Bob", "Cid", "Dan"].enumerated().map { index, name in
                    try transaction.create(Into<Guest>()) {
                        $0.name = name
                        $0.nickname = index == 0 ? nil : "N\(index)"
                        $0.bytes = Data([[], [0], [0, 1], [128]][index] as [UInt8])
                        $0.limit = Data([0, 1])
                        $0.code = codes[index].map { Data($0) }
                        $0.token = SpellingTests.token(UInt8(index))
                        $0.badge = index < 2 ? nil : SpellingTests.token(UInt8(index))
                    }
                }
                all[0].friends = [all[1], all[2]]
                (all[0].address, all[0].labels, all[0].grade, all[0].trade) = (PostalAddress(street: "High"), [], .low, .clerk)
                let room = try transaction.create(Into<Room>()) { $0.title = "Blue" }
                room.guests = [all[0], all[1]]
            }
        }

        func initials(_ body: @Sendable (SnapshotContext) throws -> [Guest]) throws -> String {
            try stack.readAndWait { String(try body($0).compactMap(\.name.first).sorted()) }
        }

        func initials(_ condition: Where<Guest>) throws -> String { try initials { try $0.fetchAll(From<Guest>(), condition) } }
    }

    /// A UUID whose first byte is above 127 for an index above 1, so that the order of the bytes differs from that of signed numbers.
    private static func token(_ index: UInt8) -> UUID { UUID(uuid: (index * 80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, index)) }

    @Test(arguments: Backend.forObjectLayer)
    func conditionsOnRelationshipsAreClauses(_ backend: Backend) throws {
        let world = try World(backend)
        let all = From<Guest>()
        #expect(try world.initials { try $0.fetchAll(all, .any(\.friends, \.name == "Bob")) } == "A")
        #expect(try world.initials { try $0.fetchAll(From<Guest>(), .none(\.friends, \.name == "Ann")) } == "AD")
        #expect(try world.initials { try $0.fetchAll(all, .all(\.friends, \.name == "Ann")) } == "BCD")
        #expect(try world.initials { try $0.fetchAll(all, .one(\.room, \.title == "Blue")) } == "AB")
        #expect(try world.initials { try $0.fetchAll(all, .count(\.friends, .greater, 1)) } == "A")
        #expect(try world.initials { try $0.fetchAll(all, .count(\.friends, \.name == "Ann", .equal, 1)) } == "BC")
        // Paths over to-one relationships.
        #expect(try world.initials { try $0.fetchAll(all, .any(\.room?.guests, \.name == "Bob")) } == "AB")
        #expect(try world.initials { try $0.fetchAll(all, .none(\.room?.guests, \.name == "Zed")) } == "ABCD")
        #expect(try world.initials { try $0.fetchAll(all, .all(\.room?.guests, \.name == "Zed")) } == "CD")
        // Several clauses are combined with AND.
        #expect(try world.initials { try $0.fetchAll(all, .any(\.friends, \.name == "Ann"), .one(\.room, \.title == "Blue")) } == "B")
    }

    @Test(arguments: Backend.forObjectLayer)
    func conditionsOnTextsAreClauses(_ backend: Backend) throws {
        let world = try World(backend)
        let all = From<Guest>()
        #expect(try world.initials { try $0.fetchAll(all, .like(\.name, "?n*")) } == "A")
        #expect(try world.initials { try $0.fetchAll(all, .like(\.nickname, "N*")) } == "BCD")
        #expect(try world.initials { try $0.fetchAll(all, .contains(\.name, "AN", options: .caseInsensitive)) } == "AD")
        #expect(try world.initials { try $0.fetchAll(all, .contains(\.nickname, "2")) } == "C")
        #expect(try world.initials { try $0.fetchAll(all, .beginsWith(\.name, "B")) } == "B")
        #expect(try world.initials { try $0.fetchAll(all, .beginsWith(\.nickname, "n", options: .caseInsensitive)) } == "BCD")
        #expect(try world.initials { try $0.fetchAll(all, .endsWith(\.name, "n")) } == "AD")
        #expect(try world.initials { try $0.fetchAll(all, .endsWith(\.nickname, "3")) } == "D")
        #expect(try world.initials { try $0.fetchAll(all, .matches(\.name, "[AB].*")) } == "AB")
        #expect(try world.initials { try $0.fetchAll(all, .matches(\.nickname, "N[12]")) } == "BC")
        #expect(try world.initials { try $0.fetchAll(all, .equals(\.name, "ann", options: .caseInsensitive)) } == "A")
        #expect(try world.initials { try $0.fetchAll(all, .equals(\.nickname, "n1", options: .caseInsensitive)) } == "B")
    }

    /// The clauses of all verbs: counts, single objects, classes instead of `From`, queries of values, deletions.
    @Test(arguments: Backend.forObjectLayer)
    func everyVerbTakesTheClauses(_ backend: Backend) throws {
        let world = try World(backend)
        try world.stack.readAndWait { context throws in
            #expect(try context.fetchCount(From<Guest>(), .none(\.friends, \.name == "Ann")) == 2)
            #expect(try context.fetchOne(From<Guest>(), .one(\.room, \.title == "Blue"), OrderBy(.descending(\.name)))?.name == "Bob")
            #expect(try context.fetchAll(Guest.self, .like(\.name, "A*")).map(\.name) == ["Ann"])
            #expect(try context.queryValue(From<Guest>(), Select<Int>(.count("name")), .beginsWith(\.nickname, "N")) == 3)
            #expect(try context.queryValue(From<Guest>(), Select<Int>(.count("name")), .any(\.friends, \.name == "Ann")) == 2)
        }
        try world.stack.performAndWait { transaction throws in
            #expect(try transaction.deleteAll(From<Guest>(), .count(\.friends, .equal, 0), .contains(\.name, "a")) == 1)
        }
        #expect(try world.initials(Where(true)) == "ABC")
    }

    @Test(arguments: Backend.forObjectLayer)
    func dataAndIdentifiersHaveAnOrder(_ backend: Backend) throws {
        let world = try World(backend)
        let (middle, second) = (Data([0, 1]), Self.token(2))
        let conditions: [(String, Where<Guest>, String)] = [
            ("data <", \.bytes < middle, "AB"), ("data <=", \.bytes <= middle, "ABC"), ("data >", \.bytes > middle, "D"),
            ("data >=", \.bytes >= middle, "CD"), ("optional data <", \.code < Data([1, 0]), "B"),
            ("optional data <=", \.code <= Data([1, 0]), "BC"), ("optional data >", \.code > Data([1]), "CD"),
            ("optional data >=", \.code >= Data([1]), "BCD"), ("data against data", \.bytes < \.limit, "AB"),
            ("data against data, <=", \.bytes <= \.limit, "ABC"), ("data against data, >", \.bytes > \.limit, "D"),
            ("data against data, >=", \.bytes >= \.limit, "CD"), ("negated", !(\.code > Data([1])), "B"),
            ("uuid <", \.token < second, "AB"),
            ("uuid <=", \.token <= second, "ABC"), ("uuid >", \.token > Self.token(1), "CD"), ("uuid >=", \.token >= second, "CD"),
            ("optional uuid <", \.badge < Self.token(3), "C"), ("optional uuid >=", \.badge >= second, "CD"),
            ("uuid against uuid", \.token < \.token, ""), ("range of uuids", Self.token(1)...second ~= \.token, "BC"),
            ("key, data", %"bytes" >= middle, "CD"), ("format, uuid", Where("token > %@", Self.token(1)), "CD"),
        ]
        for (name, condition, initials) in conditions { #expect(try world.initials(condition) == initials, "\(name)") }
        let names = try world.stack.readAndWait { try $0.fetchAll(From<Guest>().orderBy(.descending(\.token))).map(\.name) }
        #expect(names == ["Dan", "Cid", "Bob", "Ann"], "an order and a condition agree")
    }

    @Test(arguments: Backend.forObjectLayer)
    func anyOptionalAttributeIsComparedWithNil(_ backend: Backend) throws {
        let world = try World(backend)
        let conditions: [(String, Where<Guest>, String)] = [
            ("struct", \.address == nil, "BCD"), ("struct, !=", \.address != nil, "A"), ("array", \.labels == nil, "BCD"),
            ("array, !=", \.labels != nil, "A"), ("Codable enum", \.grade == nil, "BCD"), ("Codable enum, !=", \.grade != nil, "A"),
            ("enum", \.trade == nil, "BCD"), ("text", \.nickname == nil, "A"), ("data", \.code != nil, "BCD"),
            ("uuid", \.badge == nil, "AB"),
            ("number", \.score == nil, "ABCD"), ("relationship", \.room == nil, "CD"), ("case", \.grade == .low, "A"),
            ("combined", \.address == nil && \.room != nil && \.score == nil, "B"), ("negated", !(\.address == nil), "A"),
            ("over a path", .one(\.room, .any(\.guests, \.address != nil)), "AB"),
        ]
        for (name, condition, initials) in conditions { #expect(try world.initials(condition) == initials, "\(name)") }
    }

    /// The placement of null values and a comparison can be chosen at run time, so their types have names.
    @Test(arguments: Backend.forObjectLayer)
    func choicesAtRunTimeHaveNames(_ backend: Backend) throws {
        let world = try World(backend)
        let placements: [(SortKey.NullPlacement, String)] = [(.first, "Ann"), (.last, "Bob"), (.smallest, "Ann")]
        for (placement, first) in placements {
            let found = try world.stack.readAndWait {
                try $0.fetchOne(From<Guest>().orderBy(.ascending(\.nickname, nulls: placement)))?.name
            }
            #expect(found == first, "\(placement)")
        }
        let comparisons: [(ComparisonOperator, String)] = [(.equal, "BC"), (.less, "D"), (.greaterOrEqual, "ABC")]
        for (comparison, initials) in comparisons { #expect(try world.initials(.count(\.friends, comparison, 1)) == initials) }
    }

    @Test(arguments: Backend.forObjectLayer)
    func chainsTakeFoundationPredicates(_ backend: Backend) throws {
        let world = try World(backend)
        let name = "Bob"
        #expect(try world.initials { try $0.fetchAll(From<Guest>().where(#Predicate { $0.name == name })) } == "B")
        #expect(try world.initials { try $0.fetchAll(From<Guest>().where(#Predicate<Guest> { $0.room?.title == "Blue" })) } == "AB")
        #expect(
            try world.initials {
                try $0.fetchAll(From<Guest>().where(#Predicate { $0.name < "C" }).where(\.nickname != nil).orderBy(.ascending(\.name)))
            } == "B")
    }

    /// A body that ends with an object returns its id.
    @Test(arguments: Backend.forObjectLayer)
    func bodiesOfOneLineCreateObjects(_ backend: Backend) async throws {
        let world = try World(backend)
        let stack = world.stack
        try await stack.perform { t in try t.create(Into<Guest>()) { $0.name = "Eve" } }
        try stack.performAndWait { t in try t.create(Into<Guest>()) { $0.name = "Fay" } }
        let gus = try await stack.perform { t in try t.create(Guest.self) { $0.name = "Gus" } }
        let hal = try stack.performAndWait { try $0.create(Guest.self) { $0.name = "Hal" } }
        let room = try await stack.perform(editing: gus) { t, gus in try t.create(Room.self) { $0.guests = [gus] } }
        try stack.performAndWait(editing: hal) { t, hal in
            try t.create(Guest.self) {
                $0.name = "Ida"
                $0.friends = [hal]
            }
        }
        await withCheckedContinuation { continuation in
            stack.perform(
                asynchronous: { t in try t.create(Into<Guest>()) { $0.name = "Jim" } },
                completion: { result in
                    #expect((try? result.get()).map { $0.entityName == "Guest" } ?? false)
                    continuation.resume()
                })
        }
        #expect(try world.initials(Where(true)) == "ABCDEFGHIJ")
        #expect(try world.initials(.one(\.room, \.title == "")) == "G")
        #expect(try world.initials(.any(\.friends, \.name == "Hal")) == "I")
        let names = try await stack.read { context in
            [try context.fetchExisting(gus)?.name, try context.fetchExisting(hal)?.name, try context.fetchExisting(room)?.title]
        }
        #expect(names == ["Gus", "Hal", ""])
        // A body that returns a value returns the value.
        let count: Int = try await stack.perform { try $0.fetchCount(From<Guest>()) }
        #expect(count == 10)
    }

    @Test(arguments: Backend.forObjectLayer)
    func errorsOfDecimalArithmeticNameTheWayOut(_ backend: Backend) throws {
        let staff = try Staff(backend)
        let accepted: [Where<Colleague>] = [
            Where("salary + 1 > 2"), Where("salary * bonus == 1"), Where("-salary < 0"), Where(#Predicate<Colleague> { $0.salary * 2 > 3 }),
        ]
        for condition in accepted { #expect(try staff.error(condition) == "no error") }
        let wrong: [(Where<Colleague>, [String])] = [
            (Where("boss.salary / 2 > 1"), ["decimal", "Compare with a product instead", "compute in Swift"]),
            (Where("modulus:by:(salary, bonus) == 1"), ["decimal", "Compare with a product instead", "compute in Swift"]),
            (Where("salary * 1.5 > 1"), ["decimal", "A real is not exact", "Pass a Decimal", "CAST(0.5, 'NSDecimalNumber')"]),
            (Where("abs(salary) == 1"), ["decimal", "sums and averages", "Store the result in an attribute"]),
        ]
        for (condition, parts) in wrong {
            let message = try staff.error(condition)
            for part in parts { #expect(message.contains(part), "\(message)") }
        }
        #expect(try !staff.error(Where("name + 1 > 2")).contains("ecimal"))
    }
}
