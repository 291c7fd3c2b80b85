import PolyStoreBackend
import PolyStoreCore
import SeededRandom
import TestModels
import TestSupport
import Testing

/// Random graphs of a class hierarchy, read between changes, compared with a plain model. On a server, the objects after the one that is read are read ahead.
@MainActor
@Suite struct ReadAheadGraphTests {
    /// A store of the comparison.
    enum Store: String, CaseIterable, CustomTestStringConvertible {
        case memory, sqlite, server, smallBatches, plainServer

        var testDescription: String { rawValue }

        func configuration(_ folder: Folder) -> StoreConfiguration {
            switch self {
            case .memory: Backend.memory.store(in: folder)
            case .sqlite: Backend.sqlite.store(in: folder)
            case .server: .simulatedServer(SimulatedServer())
            case .smallBatches: .simulatedServer(SimulatedServer(batchSize: 3))
            case .plainServer: .simulatedServer(SimulatedServer(batchSize: 7, pushesDown: false))
            }
        }
    }

    // MARK: The plain model

    private struct PlainParty: Equatable {
        var name: String
        let kind: Int
        var sponsor: String?
        var boss: String?
    }

    private struct World: Equatable {
        /// The parties by code.
        var parties: [String: PlainParty] = [:]
        /// The codes of the parties of visits, by day.
        var visits: [Int: String] = [:]
        var next = 0

        var codes: [String] { parties.keys.sorted() }
        func name(_ code: String?) -> String? { code.flatMap { parties[$0]?.name } }
        func sponsor(_ code: String?) -> String? { code.flatMap { parties[$0]?.sponsor } }
        func boss(_ code: String?) -> String? { code.flatMap { parties[$0]?.boss } }
        /// The codes of the parties that satisfy a condition.
        func codes(where isWanted: (String) -> Bool) -> [String] { codes.filter(isWanted) }
    }

    // MARK: Changes

    private nonisolated static func party(_ code: String, _ transaction: Transaction) throws -> Party {
        try #require(try transaction.fetchOne(From<Party>().where(Where("code == %@", code))))
    }

    private nonisolated static func create(_ world: inout World, _ random: inout SplitMix64, _ transaction: Transaction) throws {
        let code = "c\(world.next)"
        world.next += 1
        let kind = world.next == 1 ? 0 : random.below(3)
        let party: Party
        switch kind {
        case 0: party = try transaction.create(Into<Human>())
        case 1:
            let worker = try transaction.create(Into<Worker>())
            worker.badge = code
            party = worker
        default:
            let firm = try transaction.create(Into<Firm>())
            firm.director = try transaction.fetchOne(From<Human>().where(Where("code == 'c0'")))
            party = firm
        }
        (party.code, party.name) = (code, "n\(random.below(6))")
        world.parties[code] = PlainParty(name: party.name, kind: kind)
    }

    /// Changes a random object.
    private nonisolated static func change(_ world: inout World, _ random: inout SplitMix64, _ transaction: Transaction) throws {
        let codes = world.codes
        let code = random.pick(codes)
        switch random.below(8) {
        case 0: try create(&world, &random, transaction)
        case 1:
            let name = "n\(random.below(6))"
            try party(code, transaction).name = name
            world.parties[code]?.name = name
        case 2, 3:
            // Also the party itself, and cycles of any length.
            let sponsor = random.once(in: 4) ? nil : random.pick(codes)
            try party(code, transaction).sponsor = try sponsor.map { try party($0, transaction) }
            world.parties[code]?.sponsor = sponsor
        case 4:
            let workers = world.codes { world.parties[$0]?.kind == 1 }
            guard workers.count > 1 else { return }
            let worker = random.pick(workers)
            let boss = random.once(in: 4) ? nil : random.pick(workers)
            if let boss, world.parties.values.count(where: { $0.boss == boss }) >= 2 { return }
            let object = try #require(try party(worker, transaction) as? Worker)
            object.boss = try boss.map { try #require(try party($0, transaction) as? Worker) }
            world.parties[worker]?.boss = boss
        case 5, 6:
            let visit = try transaction.create(Visit.self)
            visit.day = world.next
            visit.party = try party(code, transaction)
            world.visits[world.next] = code
            world.next += 1
        default:
            guard code != "c0" else { return }
            for other in codes where world.parties[other]?.sponsor == code {
                try party(other, transaction).sponsor = nil
                world.parties[other]?.sponsor = nil
            }
            try transaction.delete(try party(code, transaction))
            for other in codes where world.parties[other]?.boss == code { world.parties[other]?.boss = nil }
            world.visits = world.visits.filter { $0.value != code }
            world.parties[code] = nil
        }
    }

    // MARK: Reads

    /// Reads objects through random relationships, in random order.
    private nonisolated static func walk(_ world: World, _ random: inout SplitMix64, _ context: Context, _ what: String) throws {
        switch random.below(4) {
        case 0:
            for party in random.pick(100, of: try context.fetchAll(From<Party>())) {
                let code = party.code
                let shown = [party.sponsor?.name, party.sponsor?.sponsor?.name, party.sponsor?.sponsor?.sponsor?.code]
                let sponsor = world.sponsor(code)
                let expected = [world.name(sponsor), world.name(world.sponsor(sponsor)), world.sponsor(world.sponsor(sponsor))]
                #expect(shown == expected, "\(what): the sponsors of \(code ?? "nil")")
                if let sponsor, let kind = world.parties[sponsor]?.kind {
                    #expect(
                        [party.sponsor is Human, party.sponsor is Worker, party.sponsor is Firm] == [kind < 2, kind == 1, kind == 2],
                        "\(what)")
                }
            }
        case 1:
            for worker in random.pick(100, of: try context.fetchAll(From<Worker>())) {
                let (boss, name) = (worker.boss?.code, worker.boss?.boss?.name)
                #expect(boss == world.boss(worker.code), "\(what)")
                #expect(name == world.name(world.boss(world.boss(worker.code))), "\(what)")
            }
        case 2:
            // Ids first, so that the objects are faults.
            var chain = From<Visit>().chain
            chain.options.includesPropertyValues = false
            let visits = random.pick(100, of: try context.fetchAll(chain))
            #expect(visits.map(\.day).sorted() == world.visits.keys.sorted(), "\(what)")
            for visit in visits { #expect(visit.party?.code == world.visits[visit.day], "\(what)") }
        default:
            for party in random.pick(100, of: try context.fetchAll(From<Party>())) {
                let days = party.visits.map(\.day).sorted()
                #expect(days == world.visits.filter { $0.value == party.code }.keys.sorted(), "\(what)")
            }
        }
    }

    /// Evaluates conditions, orders and selections over relationships.
    private nonisolated static func query(_ world: World, _ random: inout SplitMix64, _ context: Context, _ what: String) throws {
        func codes(_ condition: String) throws -> [String] {
            try context.fetchAll(From<Party>().where(Where(condition))).compactMap(\.code).sorted()
        }
        let name = "n\(random.below(6))"
        let day = random.below(world.next + 1)
        func days(_ code: String) -> [Int] { world.visits.filter { $0.value == code }.map(\.key) }
        switch random.below(7) {
        case 0:
            let expected = world.codes { world.name(world.sponsor($0)) == name }
            #expect(try codes("sponsor.name == '\(name)'") == expected, "\(what)")
        case 1:
            let expected = world.codes { world.name(world.sponsor(world.sponsor($0))) == name }
            #expect(try codes("sponsor.sponsor.name == '\(name)'") == expected, "\(what)")
            #expect(try context.fetchCount(From<Party>().where(Where("sponsor.sponsor.name == '\(name)'"))) == expected.count, "\(what)")
        case 2: #expect(try codes("ANY visits.day > \(day)") == world.codes { days($0).contains { $0 > day } }, "\(what)")
        case 3: #expect(try codes("visits.@count > 1") == world.codes { days($0).count > 1 }, "\(what)")
        case 4:
            let expected = world.codes { code in days(code).contains { $0 < day } || world.name(world.sponsor(code)) == name }
            #expect(try codes("ANY visits.day < \(day) OR sponsor.name == '\(name)'") == expected, "\(what)")
        case 5:
            let expected = world.codes { code in world.sponsor(code).map { days($0).contains { $0 > day } } ?? false }
            #expect(try codes("ANY sponsor.visits.day > \(day)") == expected, "\(what)")
            let limited = try context.fetchAll(From<Party>().where(Where("ANY sponsor.visits.day > \(day)")).limit(2)).compactMap(\.code)
            #expect(limited.count == min(2, expected.count) && Set(limited).isSubset(of: expected), "\(what)")
        default:
            let ordered = try context.fetchAll(From<Party>().orderBy(.ascending("sponsor.name"))).map {
                world.name(world.sponsor($0.code)) ?? ""
            }
            #expect(ordered == world.codes.map { world.name(world.sponsor($0)) ?? "" }.sorted(), "\(what)")
            if context is Transaction { return }
            let selected = try context.queryAttributes(From<Party>(), Select("code", "sponsor.name", "visits.@count"))
            let found = selected.map { "\($0["code"].map { "\($0)" } ?? "") \($0["sponsor.name"].map { "\($0)" } ?? "-")" }.sorted()
            let groups = try context.queryAttributes(From<Party>(), Select("sponsor.name", .count), GroupBy("sponsor.name"))
            #expect(found.count == world.parties.count, "\(what)")
            #expect(groups.count == Set(world.codes.map { world.name(world.sponsor($0)) }).count, "\(what)")
        }
    }

    @Test(arguments: Store.allCases)
    func readsShowWhatAPlainModelHas(_ store: Store) throws {
        for seed in 1...(Ring.current == .thorough ? 60 : 6) as ClosedRange<UInt64> {
            let folder = try Folder()
            let stack = try DataStack(Schema("Parties 1", Party.self, Visit.self))
            stack.snapshotWarningAge = .seconds(100_000)
            try stack.addStore(store.configuration(folder))
            var random = SplitMix64(seed: seed)
            var world = World()
            (world, random) = try stack.performAndWait { [world, random] transaction throws in
                var (world, random) = (world, random)
                for _ in 0..<(seed % 3 == 0 ? 150 : 30) { try Self.create(&world, &random, transaction) }
                for _ in 0..<40 { try Self.change(&world, &random, transaction) }
                return (world, random)
            }
            let view = stack.newView()
            var context = stack.newContext()
            _ = try context.fetchCount(From<Party>())
            var shown = world
            // Objects that live while the context moves become faults.
            var held: [Party] = []
            for round in 0..<8 {
                let what = "\(store), seed \(seed), round \(round)"
                try Self.walk(world, &random, view, "view, \(what)")
                try Self.query(world, &random, view, "view, \(what)")
                if random.once(in: 2) { held = try view.fetchAll(From<Party>()) }
                (world, random) = try stack.performAndWait { [world, random] transaction throws in
                    var (world, random) = (world, random)
                    for _ in 0..<random.below(12) {
                        if random.once(in: 3) { try Self.walk(world, &random, transaction, "transaction, \(what)") }
                        if random.once(in: 3) { try Self.query(world, &random, transaction, "transaction, \(what)") }
                        try Self.change(&world, &random, transaction)
                    }
                    try Self.walk(world, &random, transaction, "end, \(what)")
                    return (world, random)
                }
                for party in held where !party.isDeleted {
                    let code = party.code
                    #expect(party.name == world.name(code) && party.sponsor?.code == world.sponsor(code), "held, \(what)")
                }
                // The other context shows an earlier version until it is refreshed.
                try Self.walk(shown, &random, context, "context, \(what)")
                if random.once(in: 2) {
                    try context.refresh()
                    shown = world
                }
                try Self.walk(shown, &random, context, "context, \(what)")
                try Self.query(shown, &random, context, "context, \(what)")
                // Pending changes of a transaction without a queue, read by its child too.
                if random.once(in: 3) {
                    let draft = stack.beginUnsafe()
                    var pending = world
                    for _ in 0..<3 { try Self.change(&pending, &random, draft) }
                    try Self.walk(pending, &random, draft, "draft, \(what)")
                    let child = draft.beginUnsafe()
                    try Self.walk(pending, &random, child, "child, \(what)")
                    for _ in 0..<3 { try Self.change(&pending, &random, child) }
                    try Self.walk(pending, &random, child, "child, \(what)")
                    try Self.query(pending, &random, child, "child, \(what)")
                }
                if random.once(in: 4) {
                    context = stack.newContext()
                    shown = world
                    _ = try context.fetchCount(From<Party>())
                }
            }
        }
    }
}
