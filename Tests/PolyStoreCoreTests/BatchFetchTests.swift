import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Fetching in batches returns the objects of a single fetch, and keeps at most one batch in memory.
@Suite struct BatchFetchTests {
    private static func chains() -> [FetchChain<Person>] {
        let conditions: [Where<Person>] = [Where(true), \.age > 40, \.nickname != nil || \.age < 30, Where(false)]
        let orders: [OrderBy<Person>?] = [
            nil, OrderBy(.descending(\.age)), OrderBy(.ascending(\.nickname, nulls: .last), .descending(\.age)),
        ]
        return conditions.flatMap { condition in
            orders.flatMap { order in
                [(nil, 0), (5, 0), (4, 3), (100, 2), (0, 0)].map { (limit: Int?, offset: Int) in
                    var chain = From<Person>().where(condition).offset(offset)
                    if let limit { chain = chain.limit(limit) }
                    order?.apply(to: &chain)
                    return chain
                }
            }
        }
    }

    private func expectBatchesOfAll(_ context: Context) throws {
        for (index, chain) in Self.chains().enumerated() {
            let all = try context.fetchAll(chain)
            for size in [1, 3, 7, 500] {
                var batches: [[Person]] = []
                try context.fetchInBatches(chain, size: size) { batches.append($0) }
                #expect(batches.flatMap { $0 } == all, "fetch \(index), size \(size)")
                #expect(batches.dropLast().allSatisfy { $0.count == size })
                #expect(batches.allSatisfy { !$0.isEmpty && $0.count <= size })
            }
        }
    }

    private static func nick(_ stack: DataStack, _ ids: [ObjectID<Person>]) throws {
        try stack.performAndWait { transaction throws in
            for (number, id) in ids.enumerated() where number % 3 != 0 { try transaction.edit(id).nickname = "n\(number % 4)" }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func batchesTogetherAreTheWholeFetch(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(20)
        try Self.nick(company.stack, ids)
        try company.stack.readAndWait { try expectBatchesOfAll($0) }
        try company.stack.performAndWait { transaction throws in
            try expectBatchesOfAll(transaction)
            for number in [2, 5, 11] { try transaction.edit(ids[number]).age = 200 - number }
            try transaction.delete(ids[7])
            for number in 0..<4 {
                let person = try transaction.create(Into<Person>())
                person.email = "new\(number)"
                person.age = 45 + number
            }
            try expectBatchesOfAll(transaction)
            try transaction.fetchInBatches(From<Person>().tweak { $0.includesPendingChanges = false }, size: 6) { people in
                #expect(people.allSatisfy { !$0.isInserted })
            }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func clausesAreTakenAsByFetchAll(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(10)
        try company.stack.readAndWait { context throws in
            var ages: [[Int]] = []
            try context.fetchInBatches(From<Person>(), Where(\.age > 20), OrderBy(.descending(\.age)), Tweak { $0.limit = 5 }, size: 2) {
                ages.append($0.map(\.age))
            }
            #expect(ages == [[90, 80], [70, 60], [50]])
        }
    }

    /// A weak reference to an object.
    private struct Watched {
        weak var object: Person?
    }

    @Test(arguments: Backend.forObjectLayer)
    func objectsGoWithTheirBatchUnlessHeld(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(30)
        @Sendable func walk(_ context: Context) throws {
            var earlier: [Watched] = []
            var held: Person?
            try context.fetchInBatches(From<Person>(), size: 5) { people in
                #expect(earlier.allSatisfy { $0.object == nil || $0.object === held })
                if held == nil { held = people[2] }
                earlier += people.map { Watched(object: $0) }
            }
            #expect(earlier.count == 30)
            #expect(earlier.filter { $0.object != nil }.count == 1)
            #expect(try context.fetchOne(From<Person>(), Where(\.age == 20)) === held)
        }
        try company.stack.readAndWait { try walk($0) }
        try company.stack.performAndWait { try walk($0) }
    }

    private struct Stop: Error {}

    @Test(arguments: Backend.allCases)
    func anErrorOfTheBodyEndsTheEnumerationAndClosesItsCursors(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(10)
        try company.stack.readAndWait { context throws in
            // An iteration that is not closed would leak a statement or an iterator.
            for _ in 0..<200 {
                var count = 0
                #expect(throws: Stop.self) {
                    try context.fetchInBatches(From<Person>(), size: 3) { _ in
                        count += 1
                        if count == 2 { throw Stop() }
                    }
                }
                #expect(count == 2)
            }
            #expect(try context.fetchCount(From<Person>()) == 10)
        }
        try company.stack.performAndWait { transaction throws in
            #expect(throws: Stop.self) { try transaction.fetchInBatches(From<Person>(), size: 3) { _ in throw Stop() } }
            try transaction.edit(ids[0]).age = 77
        }
        #expect(try company.stack.readAndWait { try $0.fetchCount(From<Person>(), Where(\.age == 77)) } == 1)
        expectError(.misuse) { try company.stack.readAndWait { try $0.fetchInBatches(From<Person>(), size: 0) { _ in } } }
    }

    @Test(arguments: Backend.allCases)
    func changesInTheBodyDoNotAffectTheEnumeration(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(40)
        for startsWithChanges in [false, true] {
            let expected = try company.stack.readAndWait { try $0.fetchAll(From<Person>().orderBy(.ascending(\.age))).map(\.email) }
            let (before, seen, doomed) = try company.stack.performAndWait { transaction throws in
                if startsWithChanges { try transaction.edit(ids[12]).nickname = "changed before" }
                let source = From<Person>().where(\.age < 10_000).orderBy(.ascending(\.age))
                let before = try transaction.fetchAll(source).map(\.email)
                var seen: [String] = []
                var doomed: Set<String> = []
                var round = 0
                try transaction.fetchInBatches(source, size: 4) { people in
                    for person in people {
                        seen.append(person.email)
                        // Sorts the object last and excludes it from the condition.
                        person.age += 20_000
                    }
                    round += 1
                    let new = try transaction.create(Into<Person>())
                    new.email = "new\(startsWithChanges)\(round)"
                    new.age = 5000 + round
                    // Updates one object of a later batch and deletes another.
                    let others = try transaction.fetchAll(From<Person>().where(\.age < 5000).orderBy(.descending(\.age)).limit(2))
                    others.first?.age += 1
                    if round < 4, let last = others.last {
                        doomed.insert(last.email)
                        try transaction.delete(last)
                    }
                }
                for person in try transaction.fetchAll(From<Person>(), Where(\.age > 10_000)) { person.age -= 20_000 }
                try transaction.deleteAll(From<Person>(), Where(.beginsWith(\.email, "new")))
                return (before, seen, doomed)
            }
            #expect(before == expected)
            #expect(doomed.count == 3)
            #expect(seen == before.filter { !doomed.contains($0) })
        }
    }

    @Test(arguments: Backend.allCases)
    func walksMayBeInsideWalks(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(9)
        @Sendable func pairs(_ context: Context) throws -> Int {
            var pairs = 0
            try context.fetchInBatches(From<Person>(), size: 2) { outer in
                try context.fetchInBatches(From<Person>().orderBy(.descending(\.age)), size: 4) { pairs += $0.count * outer.count }
                #expect(outer.allSatisfy { $0.friends.isEmpty })
            }
            return pairs
        }
        let read = try company.stack.readAndWait { try pairs($0) }
        #expect(read == 81)
        let written = try company.stack.performAndWait { try pairs($0) }
        #expect(written == 81)
    }

    @Test func objectsOfSeveralStoresComeInOneOrder() throws {
        let folder = try Folder()
        let models: [any Model.Type] = [Person.self, Department.self, Project.self]
        let names = Backend.allCases.map(\.rawValue)
        let stack = try DataStack(
            Schema("Split", models, configurations: Dictionary(uniqueKeysWithValues: names.map { ($0, models) })))
        for backend in Backend.allCases { try stack.addStore(backend.store(in: folder), configuration: backend.rawValue) }
        try stack.performAndWait { transaction throws in
            for number in 0..<41 {
                let person = try transaction.create(Into<Person>(Backend.allCases[number * 7 % 4].rawValue))
                person.email = "p\(number)"
                person.age = number % 11
                person.nickname = number % 3 == 0 ? nil : "n\(number % 5)"
            }
        }
        try stack.readAndWait { try expectBatchesOfAll($0) }
        try stack.performAndWait { transaction throws in
            for person in try transaction.fetchAll(From<Person>(), Where(\.age == 3)) { person.age = 50 }
            try transaction.deleteAll(From<Person>(), Where(\.age == 4))
            try expectBatchesOfAll(transaction)
        }
    }
}
