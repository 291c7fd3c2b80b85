import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

let partySchema = Schema("Parties 1", Party.self, Visit.self)

/// A stack with Ann (a human of 30), Bob (a worker of 40), Cy (a worker of 50, Bob's boss), Acme (directed by Ann, with Ann and Bob as staff) and Zeta
/// (directed by Cy). Acme sponsors Bob, Ann sponsors Acme. Visits: Ann on day 1, Acme on day 2, Bob on day 3.
final class Parties {
    let folder: Folder
    let stack: DataStack
    let logger = RecordingLogger()
    private let expectsSilence: Bool

    init(_ backend: Backend, expectsSilence: Bool = true) throws {
        folder = try Folder()
        self.expectsSilence = expectsSilence
        stack = try DataStack(partySchema, logger: logger)
        try stack.addStore(backend.store(in: folder))
        try stack.performAndWait { transaction throws in
            let ann = try transaction.create(Into<Human>())
            (ann.name, ann.age, ann.code) = ("Ann", 30, "a")
            let acme = try transaction.create(Into<Firm>())
            (acme.name, acme.revenue, acme.director, acme.sponsor) = ("Acme", 100, ann, ann)
            let bob = try transaction.create(Into<Worker>())
            (bob.name, bob.age, bob.badge, bob.sponsor) = ("Bob", 40, "B1", acme)
            let cy = try transaction.create(Into<Worker>())
            (cy.name, cy.age, cy.badge) = ("Cy", 50, "C1")
            bob.boss = cy
            acme.staff = [ann, bob]
            let zeta = try transaction.create(Into<Firm>())
            (zeta.name, zeta.revenue, zeta.director) = ("Zeta", 20, cy)
            for (day, party) in [(1, ann), (2, acme), (3, bob)] as [(Int, Party)] {
                let visit = try transaction.create(Into<Visit>())
                (visit.day, visit.party) = (day, party)
            }
        }
    }

    deinit { if expectsSilence, !logger.lines.isEmpty { Issue.record("unexpected log: \(logger.lines)") } }

    func read<T: Sendable>(_ body: @Sendable (SnapshotContext) throws -> T) throws -> T { try stack.readAndWait(body) }
    func write<T: Sendable>(_ body: @Sendable (Transaction) throws -> T) throws -> T { try stack.performAndWait(body) }

    func id<T: Model>(_ type: T.Type, _ name: String) throws -> ObjectID<T> {
        try #require(try read { try $0.fetchObjectID(From<T>(), Where("name == %@", name)) })
    }
}

extension Collection where Element: Party {
    var names: [String] { map { $0.name } }
}

@Suite struct InheritanceTests {
    @Test(arguments: Backend.forObjectLayer)
    func aFetchGivesObjectsOfEveryClassBelow(_ backend: Backend) throws {
        try Parties(backend).read { context throws in
            let parties = try context.fetchAll(From<Party>().orderBy(.ascending(\.name)))
            #expect(parties.map { "\(type(of: $0)) \($0.name)" } == ["Firm Acme", "Human Ann", "Worker Bob", "Worker Cy", "Firm Zeta"])
            #expect((parties[2] as? Worker)?.badge == "B1")
            #expect(try context.fetchAll(From<Human>().orderBy(.descending(\.age))).names == ["Cy", "Bob", "Ann"])
            #expect(try context.fetchAll(From<Worker>().orderBy(.ascending(\.age))).names == ["Bob", "Cy"])
            #expect(try context.fetchAll(From<Firm>().orderBy(.ascending(\.revenue))).names == ["Zeta", "Acme"])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func subentitiesCanBeLeftOut(_ backend: Backend) throws {
        try Parties(backend).read { context throws in
            #expect(try context.fetchAll(From<Human>(), Tweak { $0.includesSubentities = false }).names == ["Ann"])
            #expect(try context.fetchAll(From<Party>().tweak { $0.includesSubentities = false }).isEmpty)
            #expect(try context.fetchCount(From<Human>().tweak { $0.includesSubentities = false }) == 1)
            #expect(try context.queryValue(From<Human>(), Select<Int>(.sum("age")), Tweak { $0.includesSubentities = false }) == 30)
            #expect(try context.fetchAll(From<Worker>(), Tweak { $0.includesSubentities = false }).count == 2)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func orderLimitAndCountGoAcrossClasses(_ backend: Backend) throws {
        try Parties(backend).read { context throws in
            #expect(try context.fetchAll(From<Party>().orderBy(.descending(\.name)).limit(3).offset(1)).names == ["Cy", "Bob", "Ann"])
            #expect(try context.fetchAll(From<Human>().orderBy(.descending(\.name)).limit(1)).names == ["Cy"])
            #expect(try context.fetchCount(From<Party>()) == 5)
            #expect(try context.fetchCount(From<Human>()) == 3)
            #expect(try context.fetchCount(From<Firm>(), Where(\.name == "Ann")) == 0)
            #expect(try context.fetchObjectIDs(From<Worker>()).count == 2)
            #expect(try context.fetchOne(From<Human>().where(\.age > 45))?.name == "Cy")
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func conditionsInEveryDialectFindInheritedProperties(_ backend: Backend) throws {
        try Parties(backend).read { context throws in
            func expect(_ condition: Where<Worker>, _ names: [String], _ line: Int = #line) throws {
                let found = try context.fetchAll(From<Worker>(), condition, OrderBy(.ascending(\.name)))
                #expect(found.names == names, "line \(line)")
            }
            try expect(Where(\.name == "Bob"), ["Bob"])
            try expect(Where(\.name != "Bob" && \.age >= 40), ["Cy"])
            try expect(Where(\.badge == "B1" || \.name == "Ann"), ["Bob"])
            try expect(Where("name BEGINSWITH 'B' AND age > %d AND badge == 'B1'", 30), ["Bob"])
            try expect(%"name" == "Cy" && %"age" == 50, ["Cy"])
            try expect(Where(["age": 45...60]), ["Cy"])
            try expect(Where(\.boss?.name == "Cy"), ["Bob"])
            try expect(Where("employer.name == 'Acme'"), ["Bob"])
            try expect(Where(\.employer?.director?.age == 30), ["Bob"])
            try expect(Where("sponsor.sponsor.name == 'Ann'"), ["Bob"])
            try expect(Where("ANY visits.day == 3"), ["Bob"])
            try expect(.any(\.visits, \.day == 3), ["Bob"])
            try expect(Where("reports.@count == 1"), ["Cy"])
            try expect(Where(\.sponsor != nil), ["Bob"])

            let acme = try #require(try context.fetchOne(From<Firm>(), Where(\.name == "Acme")))
            try expect(Where("employer == %@", acme), ["Bob"])
            try expect(Where("sponsor == %@", acme.objectID), ["Bob"])
            try expect(Where(\.employer == acme), ["Bob"])
            #expect(try context.fetchAll(From<Visit>(), Where("party.name == 'Acme'")).map { $0.day } == [2])
            #expect(try context.fetchAll(From<Visit>(), Where(\.party?.name == "Bob")).map { $0.day } == [3])
            #expect(try context.fetchAll(From<Firm>(), Where("ANY staff.age > 35")).names == ["Acme"])
            #expect(try context.fetchAll(From<Firm>().where(.any(\.staff, \.age > 35))).names == ["Acme"])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func valuesAreOfTheClassThatIsAsked(_ backend: Backend) throws {
        try Parties(backend).read { context throws in
            #expect(try context.queryValue(From<Human>(), .sum(\.age)) == 120)
            #expect(try context.queryValue(From<Worker>(), .sum(\.age)) == 90)
            #expect(try context.queryValue(From<Worker>(), Select<String>(.maximum(\Worker.name))) == "Cy")
            #expect(try context.queryValue(From<Party>(), Select<Int>(.count("age"))) == 3)
            #expect(try context.queryValue(From<Firm>(), Select<Int>(.count)) == 2)
            let rows = try context.queryAttributes(
                From<Worker>(), Select("name", "badge"), OrderBy(.descending(\.name)))
            #expect(rows.map { $0["name"] } == ["Cy", "Bob"])
            #expect(rows.map { $0["badge"] } == ["C1", "B1"])
            let groups = try context.queryGroups(From<Human>(), by: \.name, .count)
            #expect(groups.map(\.key) == ["Ann", "Bob", "Cy"])
            let grouped = try context.queryAttributes(From<Human>(), Select("employer", .count), GroupBy("employer"))
            #expect(grouped.map { $0["count"] } == [1, 2])
            #expect(grouped[1]["employer"]?.objectID(of: Firm.self)?.entityName == "Firm")
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func relationshipsGiveObjectsOfTheirOwnClass(_ backend: Backend) throws {
        try Parties(backend).read { context throws in
            let visits = try context.fetchAll(From<Visit>().orderBy(.ascending(\.day)))
            #expect(visits.map { $0.party.map { "\(type(of: $0))" } } == ["Human", "Firm", "Worker"])
            let bob = try #require(try context.fetchOne(From<Worker>(), Where(\.name == "Bob")))
            #expect(visits[2].party === bob)
            #expect(bob.sponsor is Firm)
            #expect(bob.sponsor === bob.employer)
            #expect(bob.boss?.reports == [bob])
            #expect(bob.employer?.staff.contains(bob) == true)
            #expect(bob.employer?.staff.map { $0.name }.sorted() == ["Ann", "Bob"])
            #expect(bob.visits.map { $0.day } == [3])
            #expect(bob.employer?.director?.sponsor == nil)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func faultsAreLazyWhereTheirClassIsKnown(_ backend: Backend) throws {
        try Parties(backend).read { context throws in
            let bob = try #require(try context.fetchOne(From<Worker>(), Where(\.name == "Bob")))
            // Firm and Worker have no subclasses; a human can be a worker.
            #expect(bob.employer?.isFault == true)
            #expect(bob.boss?.isFault == true)
            #expect(bob.employer?.director?.isFault == false)
        }
        try Parties(backend).read { context throws in
            #expect(try context.fetchAll(From<Firm>().tweak { $0.includesPropertyValues = false }).allSatisfy { $0.isFault })
            let people = try context.fetchAll(From<Human>().tweak { $0.includesPropertyValues = false })
            #expect(people.map { "\(type(of: $0))" } == ["Human", "Worker", "Worker"])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func prefetchBatchesAndLazyListsKnowTheClasses(_ backend: Backend) throws {
        let parties = try Parties(backend)
        try parties.read { context throws in
            let visits = try context.fetchAll(From<Visit>(), Tweak { $0.prefetch = ["party", "party.employer"] })
            #expect(visits.compactMap { $0.party }.allSatisfy { !$0.isFault })
            #expect(visits.contains { ($0.party as? Human)?.employer?.isFault == false })
        }
        try parties.read { context throws in
            var classes: [String] = []
            try context.fetchInBatches(From<Party>().orderBy(.ascending(\.name)), size: 2) { batch in
                classes += batch.map { "\(type(of: $0))" }
            }
            #expect(classes == ["Firm", "Human", "Worker", "Worker", "Firm"])
        }
        try parties.read { context throws in
            let lazily = try context.fetchLazily(From<Human>().orderBy(.descending(\.name)), batchSize: 2)
            #expect(lazily.map { "\(type(of: $0)) \($0.name)" } == ["Worker Cy", "Worker Bob", "Human Ann"])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func thePlanUsesTheIndexOfTheClass(_ backend: Backend) throws {
        try Parties(backend).read { context throws in
            #expect(try context.explain(From<Firm>()).contains("Party__entity"))
            #expect(try context.explain(From<Party>()).contains("Party__entity") == false)
        }
    }
}
