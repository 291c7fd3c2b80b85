import Foundation
import PolyStore
import TestSupport
import Testing

/// Random orders and samples with a seed, in each dialect, on each backend.
@Suite struct RandomOrderTests {
    private static func initials(_ context: Context, _ source: some FetchSource<Colleague>) throws -> String {
        String(try context.fetchAll(source).compactMap(\.name.first))
    }

    /// The row ids of Ann, Bob, Cid, Dan, Eve and Jan are 1 to 6.
    private static let orders = [(42, "AJEBCD"), (1, "ABJCED"), (-1, "EJABCD"), (.min, "BEAJDC"), (.max, "CBJDAE")]

    @Test(arguments: Backend.forObjectLayer)
    func aSeedDeterminesTheOrder(_ backend: Backend) throws {
        try Staff(backend).stack.readAndWait { context throws in
            let all = From<Colleague>()
            for (seed, expected) in Self.orders {
                #expect(try Self.initials(context, all.orderBy(.random(seed: seed))) == expected, "\(seed)")
                #expect(try Self.initials(context, all.orderBy(.ascending("shuffle(objectID, \(seed))"))) == expected, "\(seed)")
                #expect(try Self.initials(context, all.orderBy { $0.objectID.shuffle(seed: seed) }) == expected, "\(seed)")
                #expect(try context.fetchAll(all, OrderBy(.random(seed: seed))).map { String($0.name.prefix(1)) }.joined() == expected)
                let names = try context.queryAttributes(all, Select("name"), OrderBy(.random(seed: seed)))
                #expect(names.compactMap { $0["name"]?.string?.prefix(1) }.joined() == expected)
                #expect(
                    try context.queryRows(all.orderBy(.random(seed: seed)).select { $0.name }).compactMap(\.first).map(String.init).joined()
                        == expected)
            }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func aNewSeedIsChosenEachTime(_ backend: Backend) throws {
        try Staff(backend).stack.readAndWait { context throws in
            let all = From<Colleague>()
            // One chain keeps its seed. That 64 chains draw one order of 720 has a probability of 720^-63.
            let chain = all.orderBy(.random)
            #expect(try Self.initials(context, chain) == Self.initials(context, chain))
            let orders = try Set((1...64).map { _ in try Self.initials(context, all.orderBy(.random)) })
            #expect(orders.count > 1 && orders.allSatisfy { $0.sorted() == "ABCDEJ".sorted() })
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func samplesHaveConditionsLimitsAndFurtherKeys(_ backend: Backend) throws {
        try Staff(backend).stack.readAndWait { context throws in
            let all = From<Colleague>()
            #expect(try Self.initials(context, all.orderBy(.random(seed: 42)).limit(2)) == "AJ")
            #expect(try Self.initials(context, all.orderBy(.random(seed: 42)).limit(3).offset(2)) == "EBC")
            #expect(try Self.initials(context, all.where { $0.age > 20 }.orderBy(.random(seed: 42)).limit(2)) == "JE")
            #expect(try Self.initials(context, all.orderBy(.ascending(\.job), .random(seed: 42))) == "JCEBAD")
            #expect(try Self.initials(context, all.orderBy { $0.job.descending }.orderBy(.random(seed: -1))) == "ADEBJC")
            #expect(try context.fetchCount(all.orderBy(.random(seed: 42)).limit(4)) == 4)
            var batches: [String] = []
            try context.fetchInBatches(all.orderBy(.random(seed: 1)), size: 4) { batch in
                batches.append(String(batch.compactMap(\.name.first)))
            }
            #expect(batches == ["ABJC", "ED"])
            #expect(OrderKey<Colleague>.random(seed: 1) == .random(seed: 1) && OrderKey<Colleague>.random(seed: 1) != .random(seed: 2))
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func conditionsAndGroupsUseShuffles(_ backend: Backend) throws {
        try Staff(backend).stack.readAndWait { context throws in
            let all = From<Colleague>().orderBy { $0.age }
            // The values of 1 and 6 are negative with the seed 42, and 1 to 6 leave the remainders 0, 1, 0, 0, 1 and -1 by 3.
            let negative = try Self.initials(context, all.where("shuffle(objectID, 42) < 0"))
            #expect(try Self.initials(context, all.where { $0.objectID.shuffle(seed: 42) < 0 }) == negative)
            #expect(try Self.initials(context, all.where("shuffle(SELF, %d) < 0", 42)) == negative)
            #expect(try Self.initials(context, all.where("modulus(shuffle(objectID, 42), 3) == 0")) == "ACD")
            #expect(try Self.initials(context, all.where { $0.objectID.shuffle(seed: 42) % 3 == 0 }) == "ACD")
            #expect(try Self.initials(context, all.where("shuffle(boss, 42) == shuffle(1, 42)")) == "B")
            #expect(try Self.initials(context, all.where("shuffle(boss, 42) == NULL")) == "AEJ")
            #expect(try Self.initials(context, all.where("ANY friends.age > 40 AND shuffle(age, 1) != shuffle(age, 2)")) == "D")
            let groups = try context.queryRows(
                From<Colleague>().select { ($0.objectID.shuffle(seed: 42) % 3, $0.objectID.count) }.groupBy {
                    $0.objectID.shuffle(seed: 42) % 3
                })
            #expect(groups.map(\.0) == [-1, 0, 1] && groups.map(\.1) == [1, 3, 2])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func pendingObjectsHaveTheirPlaceInTheOrder(_ backend: Backend) throws {
        let staff = try Staff(backend)
        let order = From<Colleague>().orderBy(.random(seed: 42))
        let pending = try staff.stack.performAndWait { transaction throws in
            for name in ["Kim", "Lea", "Max"] { try transaction.create(Into<Colleague>()).name = name }
            let cid = try #require(try transaction.fetchOne(From<Colleague>().where { $0.name == "Cid" }))
            try transaction.delete(cid)
            try #require(try transaction.fetchOne(From<Colleague>().where { $0.name == "Ann" })).name = "Zoe"
            let sample = try Self.initials(transaction, order.limit(3))
            let all = try Self.initials(transaction, order)
            #expect(all.hasPrefix(sample) && all.count == 8)
            return all
        }
        #expect(pending.filter { "ZJEBD".contains($0) } == "ZJEBD")
        #expect(try staff.stack.readAndWait { try Self.initials($0, order) } == pending)
        let draft = staff.stack.beginUnsafe()
        try draft.create(Into<Colleague>()).name = "Nia"
        let child = draft.beginUnsafe()
        try child.create(Into<Colleague>()).name = "Ole"
        let inner = try Self.initials(child, order)
        #expect(inner.count == 10 && inner.filter { $0 != "O" && $0 != "N" } == pending)
        try child.commit()
        #expect(try Self.initials(draft, order) == inner)
        try draft.commit()
        #expect(try staff.stack.readAndWait { try Self.initials($0, order) } == inner)
    }

    @Test(arguments: Backend.forObjectLayer)
    func objectsOfTwoStoresAreMerged(_ backend: Backend) throws {
        let folder = try Folder()
        let models: [any Model.Type] = [Colleague.self, Errand.self]
        let stack = try DataStack(Schema("Two", models, configurations: ["A": models, "B": models]))
        try stack.addStore(backend.store(in: folder, "a"), configuration: "A")
        try stack.addStore(backend.store(in: folder, "b"), configuration: "B")
        // Six objects in each store, with the row ids 1 to 6.
        try stack.performAndWait { transaction throws in
            for name in ["A", "B", "C", "D", "E", "J"] {
                try transaction.create(Into<Colleague>("A")).name = name
                try transaction.create(Into<Colleague>("B")).name = name.lowercased()
            }
        }
        try stack.readAndWait { context throws in
            let all = From<Colleague>()
            for (seed, expected) in Self.orders {
                // Equal row ids have equal values; the first store precedes.
                let merged = expected.map { "\($0)\($0.lowercased())" }.joined()
                #expect(try Self.initials(context, all.orderBy(.random(seed: seed))) == merged)
                #expect(
                    try Self.initials(context, all.orderBy(.random(seed: seed)).limit(5).offset(2)) == String(merged.dropFirst(2).prefix(5))
                )
                #expect(try Self.initials(context, From<Colleague>("B").orderBy(.random(seed: seed))) == expected.lowercased())
            }
        }
    }

    @Test func wrongUsesAreRefused() throws {
        let staff = try Staff(.memory)
        let cases = [
            ("shuffle(name, 1) == 1", "shuffle takes an object or an integer, and an integer as its seed, not string and int64."),
            (
                "shuffle(objectID, 1.5) == 1",
                "shuffle takes an object or an integer, and an integer as its seed, not an object of Colleague and double."
            ),
            (
                "shuffle(1, boss) == 1",
                "shuffle takes an object or an integer, and an integer as its seed, not int64 and an object of Colleague."
            ),
            ("shuffle(friends, 1) == 1", "leads to many objects"), ("shuffle(objectID) == 1", "shuffle(…) takes 2 values, not 1"),
            ("shuffle(salary, 1) == 1", "shuffle takes an object or an integer"),
        ]
        for (format, message) in cases { #expect(try staff.error(Where(format)).contains(message), "\(format)") }
    }
}
