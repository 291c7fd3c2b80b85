import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// The body of `fetchInBatches` commits, rolls back or refreshes its transaction, or moves its view. The objects and their order remain those of the
/// start, and each batch has the values of the snapshot in which it is read.
@Suite struct BatchCommitTests {
    /// The kinds of transactions that can be committed more than once.
    enum Way: CaseIterable, Sendable {
        case unsafe, child, stepwise, performBatch, performBatchAndWait

        func run<T: Sendable>(_ stack: DataStack, _ body: @escaping @Sendable (UnsafeTransaction) throws -> T) async throws -> T {
            switch self {
            case .unsafe: return try body(stack.beginUnsafe())
            case .child:
                let parent = stack.beginUnsafe()
                let result = try body(parent.beginUnsafe())
                try parent.commitAndWait()
                return result
            case .stepwise: return try await stack.beginTransaction().perform(body)
            case .performBatch: return try await stack.performBatch(body)
            case .performBatchAndWait: return try stack.performBatchAndWait(body)
            }
        }
    }

    private static func order(_ number: Int) -> OrderBy<Person>? {
        switch number {
        case 0: nil
        case 1: OrderBy(.descending(\.age))
        default: OrderBy(.ascending(\.nickname, nulls: .last), .descending(\.age))
        }
    }

    /// A company of people of whom two thirds have nicknames.
    private static func company(_ backend: Backend, _ count: Int) throws -> (Company, [ObjectID<Person>]) {
        let company = try Company(backend)
        let ids = try company.people(count)
        try company.stack.performAndWait { transaction throws in
            for (number, id) in ids.enumerated() where number % 3 != 0 { try transaction.edit(id).nickname = "n\(number % 4)" }
        }
        return (company, ids)
    }

    private static func chain(_ order: OrderBy<Person>?, limit: Int? = nil, offset: Int = 0) -> FetchChain<Person> {
        var chain = From<Person>().where(\.age < 10_000).offset(offset)
        if let limit { chain = chain.limit(limit) }
        order?.apply(to: &chain)
        return chain
    }

    @Test(arguments: Backend.allCases, Way.allCases)
    func aCommitAfterEachBatch(_ backend: Backend, _ way: Way) async throws {
        let (company, _) = try Self.company(backend, 20)
        for (index, (limit, offset)) in ([(nil, 0), (nil, 3), (7, 0), (9, 2), (0, 0)] as [(Int?, Int)]).enumerated() {
            for number in 0..<3 {
                for size in [1, 4, 7, 500] {
                    let (before, seen, sizes) = try await way.run(company.stack) { transaction in
                        let chain = Self.chain(Self.order(number), limit: limit, offset: offset)
                        let before = try transaction.fetchAll(chain).map(\.email)
                        var seen: [String] = []
                        var sizes: [Int] = []
                        try transaction.fetchInBatches(chain, size: size) { people in
                            seen += people.map(\.email)
                            sizes.append(people.count)
                            // Moves the objects behind all others in one order, before them in another, and out of the condition.
                            for person in people { person.age += 20_000 }
                            try transaction.commit()
                        }
                        return (before, seen, sizes)
                    }
                    #expect(seen == before, "fetch \(index), order \(number), size \(size)")
                    #expect(sizes.dropLast().allSatisfy { $0 == size } && sizes.allSatisfy { $0 > 0 && $0 <= size })
                    try company.stack.performAndWait { transaction throws in
                        let changed = try transaction.fetchAll(From<Person>(), Where(\.age >= 10_000))
                        #expect(changed.map(\.email).sorted() == before.sorted())
                        for person in changed { person.age -= 20_000 }
                    }
                }
            }
        }
    }

    @Test(arguments: Backend.allCases, Way.allCases)
    func aBatchHasTheValuesOfItsSnapshot(_ backend: Backend, _ way: Way) async throws {
        let (company, ids) = try Self.company(backend, 12)
        let stack = company.stack
        let seen = try await way.run(stack) { transaction in
            var seen: [String] = []
            try transaction.fetchInBatches(From<Person>().where(\.age < 1000).orderBy(.ascending(\.age)), size: 3) { people in
                if seen.isEmpty {
                    // Own changes of objects of later batches: one leaves the condition, one is deleted, one is inserted.
                    try transaction.edit(ids[4]).age = 4000
                    try transaction.edit(ids[5]).nickname = "own"
                    try transaction.delete(try transaction.edit(ids[6]))
                    _ = try transaction.createPerson(45)
                    try transaction.commit()
                    if way != .child {
                        try stack.performAndWait { other throws in
                            try other.edit(ids[8]).age = 8000
                            try other.edit(ids[9]).nickname = "other"
                            try other.delete(try other.edit(ids[10]))
                            _ = try other.createPerson(95)
                        }
                        transaction.refresh()
                    }
                }
                seen += people.map { "\($0.age) \($0.nickname ?? "-")" }
                for person in people { person.nickname = "done" }
                try transaction.commit()
            }
            return seen
        }
        let expected =
            way == .child
            ? ["0 -", "10 n1", "20 n2", "30 -", "4000 n0", "50 own", "70 n3", "80 n0", "90 -", "100 n2", "110 n3"]
            : ["0 -", "10 n1", "20 n2", "30 -", "4000 n0", "50 own", "70 n3", "8000 n0", "90 other", "110 n3"]
        #expect(seen == expected)
        let names = try stack.readAndWait { context throws in
            try context.fetchAll(From<Person>().orderBy(.ascending(\.age))).map { "\($0.age) \($0.nickname ?? "-")" }
        }
        #expect(names.filter { !$0.hasSuffix(" done") } == (way == .child ? ["45 -"] : ["45 -", "95 -"]))
        #expect(names.count == 12)
    }

    @Test(arguments: Backend.allCases, Way.allCases)
    func rollbackRefreshAndFlushInTheBody(_ backend: Backend, _ way: Way) async throws {
        for number in 0..<3 {
            let (company, ids) = try Self.company(backend, 20)
            let (before, seen, committed) = try await way.run(company.stack) { transaction in
                // Pending changes of the start.
                try transaction.edit(ids[11]).age = 5
                let new = try transaction.createPerson(35)
                try transaction.delete(try transaction.edit(ids[13]))
                let chain = Self.chain(Self.order(number))
                let before = try transaction.fetchAll(chain).map(\.email)
                var (seen, round, committed): ([String], Int, [String]) = ([], 0, [])
                try transaction.fetchInBatches(chain, size: 3) { people in
                    seen += people.map(\.email)
                    for person in people { person.nickname = "round \(round)" }
                    switch round % 4 {
                    case 0:
                        transaction.flush()
                        #expect(new.age == 35)
                    case 1:
                        transaction.refresh()
                        #expect(people.allSatisfy { $0.nickname == "round \(round)" })
                    case 2:
                        try transaction.commit()
                        committed = seen
                    default: transaction.rollback()
                    }
                    round += 1
                }
                transaction.rollback()
                return (before, seen, committed)
            }
            #expect(seen == before, "order \(number)")
            #expect(!committed.isEmpty)
            let stored = try company.stack.readAndWait { try $0.fetchCount(From<Person>(), Where(.beginsWith(\.nickname, "round"))) }
            #expect(stored > 0 && stored <= committed.count)
        }
    }

    @Test(arguments: Backend.allCases, Way.allCases)
    func objectsThatARollbackRemovesAreSkipped(_ backend: Backend, _ way: Way) async throws {
        let (company, _) = try Self.company(backend, 6)
        let seen = try await way.run(company.stack) { transaction in
            for number in [15, 25, 45] { _ = try transaction.createPerson(number) }
            var seen: [Int] = []
            try transaction.fetchInBatches(From<Person>().orderBy(.ascending(\.age)), size: 2) { people in
                seen += people.map(\.age)
                if seen.count == 4 { transaction.rollback() }
            }
            return seen
        }
        #expect(seen == [0, 10, 15, 20, 30, 40, 50])
    }

    @Test(arguments: Backend.allCases, Way.allCases)
    func nestedIterationsAndFetches(_ backend: Backend, _ way: Way) async throws {
        let (company, _) = try Self.company(backend, 9)
        let (pairs, counts) = try await way.run(company.stack) { transaction in
            var pairs: [String] = []
            var counts: [Int] = []
            try transaction.fetchInBatches(From<Person>().where(\.age < 10_000), size: 4) { outer in
                let names = outer.map(\.email)
                try transaction.fetchInBatches(From<Person>().orderBy(.descending(\.email)), size: 5) { inner in
                    for person in inner { person.age += 1 }
                    try transaction.commit()
                    pairs += names.flatMap { name in inner.map { name + $0.email } }
                }
                counts.append(try transaction.fetchCount(From<Person>(), Where(.beginsWith(\.email, "p"))))
                #expect(outer.map(\.email) == names)
                try transaction.batchUpdate(From<Person>()) { $0.increment(\.age, by: 10) }
                try transaction.commit()
            }
            return (pairs, counts)
        }
        #expect(pairs.count == 81 && Set(pairs).count == 81)
        #expect(counts == [9, 9, 9])
        let ages = try company.stack.readAndWait { try $0.fetchAll(From<Person>().orderBy(.ascending(\.age))).map(\.age) }
        #expect(ages == (0..<9).map { $0 * 10 + 33 })
    }

    private struct Stop: Error {}

    @Test(arguments: Backend.allCases, Way.allCases)
    func anErrorOfTheBodyKeepsWhatWasCommitted(_ backend: Backend, _ way: Way) async throws {
        let (company, _) = try Self.company(backend, 10)
        await #expect(throws: Stop.self) {
            try await way.run(company.stack) { transaction in
                var round = 0
                try transaction.fetchInBatches(From<Person>(), size: 3) { people in
                    for person in people { person.nickname = "round \(round)" }
                    round += 1
                    if round == 3 { throw Stop() }
                    try transaction.commit()
                }
            }
        }
        let stored = try company.stack.readAndWait { try $0.fetchCount(From<Person>(), Where(.beginsWith(\.nickname, "round"))) }
        // The commit of a child transaction needs that of its parent, which was not reached.
        #expect(stored == (way == .child ? 0 : 6))
        // The transaction remains usable after an error that its caller catches.
        let count = try await way.run(company.stack) { transaction in
            try? transaction.fetchInBatches(From<Person>(), size: 3) { _ in
                try transaction.commit()
                throw Stop()
            }
            return try transaction.fetchCount(From<Person>())
        }
        #expect(count == 10)
    }

    /// A rejected commit moves the transaction to the newest version, and the iteration continues after a rollback.
    @Test(arguments: Backend.allCases, [Way.unsafe, .stepwise, .performBatch, .performBatchAndWait])
    func aRejectedCommit(_ backend: Backend, _ way: Way) async throws {
        let (company, ids) = try Self.company(backend, 9)
        let stack = company.stack
        let (seen, conflicts) = try await way.run(stack) { transaction in
            var (seen, conflicts): ([String], Int) = ([], 0)
            try transaction.fetchInBatches(From<Person>().orderBy(.ascending(\.age)), size: 3) { people in
                seen += people.map { "\($0.age) \($0.nickname ?? "-")" }
                for person in people { person.nickname = "mine" }
                if seen.count == 3 {
                    try stack.performAndWait { other throws in
                        try other.edit(ids[1]).nickname = "other"
                        try other.edit(ids[7]).nickname = "other"
                    }
                }
                do { try transaction.commit() } catch let error as StoreError where error.code == .conflict {
                    conflicts += 1
                    transaction.rollback()
                }
            }
            return (seen, conflicts)
        }
        #expect(conflicts == 1)
        #expect(seen == ["0 -", "10 n1", "20 n2", "30 -", "40 n0", "50 n1", "60 -", "70 other", "80 n0"])
        let names = try stack.readAndWait { try $0.fetchAll(From<Person>().orderBy(.ascending(\.age))).map { $0.nickname ?? "-" } }
        #expect(names == ["-", "other", "n2", "mine", "mine", "mine", "mine", "mine", "mine"])
    }

    @Test(arguments: Backend.allCases, Way.allCases)
    func noBatchIsEmpty(_ backend: Backend, _ way: Way) async throws {
        let (company, _) = try Self.company(backend, 10)
        let sizes = try await way.run(company.stack) { transaction in
            var sizes: [Int] = []
            try transaction.fetchInBatches(From<Person>().where(\.age > 1000), size: 3) { sizes.append($0.count) }
            try transaction.fetchInBatches(From<Person>().orderBy(.ascending(\.age)), size: 3) { people in
                sizes.append(people.count)
                // Removes the second batch, and one object of the third.
                try transaction.deleteAll(From<Person>(), Where(\.age >= 30 && \.age <= 60))
                try transaction.commit()
            }
            try transaction.fetchInBatches(From<Person>(), size: 2) { people in
                sizes.append(people.count)
                try transaction.deleteAll(From<Person>())
                try transaction.commit()
            }
            return sizes
        }
        #expect(sizes == [3, 2, 1, 2])
        #expect(try company.count() == 0)
    }

    @Test(arguments: Backend.allCases, Way.allCases)
    func hierarchies(_ backend: Backend, _ way: Way) async throws {
        let parties = try Parties(backend)
        for size in [1, 2, 5] {
            let seen = try await way.run(parties.stack) { transaction in
                var seen: [String] = []
                try transaction.fetchInBatches(From<Party>().orderBy(.ascending(\.name)), size: size) { batch in
                    seen += batch.map { "\(type(of: $0)) \($0.name)" }
                    for case let human as Human in batch { human.age += 1 }
                    try transaction.commit()
                }
                try transaction.fetchInBatches(From<Worker>(), size: size) { batch in
                    seen += batch.map(\.badge)
                    try transaction.commit()
                }
                return seen
            }
            #expect(seen == ["Firm Acme", "Human Ann", "Worker Bob", "Worker Cy", "Firm Zeta", "B1", "C1"])
        }
        let ages = try parties.read { try $0.fetchAll(From<Human>().orderBy(.ascending(\.name))).map { $0.age } }
        #expect(ages == [33, 43, 53])
    }

    @Test(arguments: Way.allCases) func severalStores(_ way: Way) async throws {
        let folder = try Folder()
        let models: [any Model.Type] = [Person.self, Department.self, Project.self]
        let names = Backend.allCases.map(\.rawValue)
        let stack = try DataStack(Schema("Split", models, configurations: Dictionary(uniqueKeysWithValues: names.map { ($0, models) })))
        for backend in Backend.allCases { try stack.addStore(backend.store(in: folder), configuration: backend.rawValue) }
        try stack.performAndWait { transaction throws in
            for number in 0..<23 {
                let person = try transaction.create(Into<Person>(Backend.allCases[number * 7 % 4].rawValue))
                (person.email, person.age) = ("p\(number)", number % 11)
                person.nickname = number % 3 == 0 ? nil : "n\(number % 5)"
            }
        }
        for number in 0..<3 {
            for (limit, offset) in [(nil, 0), (13, 4)] as [(Int?, Int)] {
                for size in [1, 4, 50] {
                    let (before, seen) = try await way.run(stack) { transaction in
                        let chain = Self.chain(Self.order(number), limit: limit, offset: offset)
                        let before = try transaction.fetchAll(chain).map(\.email)
                        var seen: [String] = []
                        try transaction.fetchInBatches(chain, size: size) { people in
                            seen += people.map(\.email)
                            for person in people { person.age += 100 }
                            try transaction.commit()
                        }
                        return (before, seen)
                    }
                    #expect(seen == before && !seen.isEmpty, "order \(number), size \(size)")
                }
            }
        }
        withExtendedLifetime(folder) {}
    }

    /// The cursors of a child transaction read the snapshots of its parent.
    @Test(arguments: Backend.allCases)
    func theParentCommitsDuringTheIterationOfAChild(_ backend: Backend) throws {
        let (company, ids) = try Self.company(backend, 10)
        let parent = company.stack.beginUnsafe()
        try parent.edit(ids[3]).age = 35
        let child = parent.beginUnsafe()
        var seen: [Int] = []
        try child.fetchInBatches(From<Person>().orderBy(.ascending(\.age)), size: 3) { people in
            seen += people.map(\.age)
            for person in people { person.nickname = "child" }
            try child.commit()
            if seen.count == 6 { try parent.edit(ids[7]).age = 75 }
            try parent.commit()
        }
        #expect(seen == [0, 10, 20, 35, 40, 50, 60, 75, 80, 90])
        #expect(try company.nicknames().allSatisfy { $0 == "child" })
    }

    @Test(arguments: Backend.allCases, Way.allCases)
    func lazyListsAndRelationshipsWithCommits(_ backend: Backend, _ way: Way) async throws {
        let company = try Company.staffed(backend) { _ in }
        let (lazily, members) = try await way.run(company.stack) { transaction in
            var (lazily, members): ([Int], Int) = ([], 0)
            let list = try transaction.fetchLazily(From<Person>().orderBy(.descending(\.age)), batchSize: 2)
            for person in list {
                lazily.append(person.age)
                person.age += 1000
                try transaction.commit()
            }
            let research = try #require(try transaction.fetchOne(From<Department>(), Where(\.title == "Research")))
            for person in research.people {
                members += 1
                person.nickname = "member"
                try transaction.commit()
            }
            return (lazily, members)
        }
        #expect(lazily == [50, 40, 30, 20, 10, 0])
        #expect(members == 3)
        #expect(try company.nicknames().filter { $0 == "member" }.count == 3)
    }

    // MARK: Contexts that only read

    @MainActor
    @Test(arguments: Backend.allCases)
    func aCommitInTheBodyMovesTheView(_ backend: Backend) throws {
        let (company, ids) = try Self.company(backend, 10)
        let stack = company.stack
        var seen: [String] = []
        try stack.view.fetchInBatches(From<Person>().orderBy(.ascending(\.age)), size: 3) { people in
            seen += people.map { "\($0.age) \($0.nickname ?? "-")" }
            let isFirst = seen.count == 3
            try stack.performAndWait { transaction throws in
                if isFirst {
                    try transaction.delete(try transaction.edit(ids[4]))
                    try transaction.edit(ids[8]).nickname = "other"
                }
                try transaction.edit(ids[9]).age += 1
            }
            #expect(people.allSatisfy { !$0.isDeleted })
        }
        #expect(seen == ["0 -", "10 n1", "20 n2", "30 -", "50 n1", "60 -", "70 n3", "80 other", "93 -"])
    }

    @Test(arguments: Backend.allCases)
    func aRefreshInTheBodyMovesAContext(_ backend: Backend) throws {
        let (company, ids) = try Self.company(backend, 10)
        let context = company.stack.newContext()
        for refreshes in [false, true] {
            var ages: [Int] = []
            try context.fetchInBatches(From<Person>(), size: 3) { people in
                ages += people.map(\.age)
                try company.stack.performAndWait { try $0.edit(ids[9]).age += 1 }
                if refreshes { try context.refresh() }
            }
            #expect(ages == [0, 10, 20, 30, 40, 50, 60, 70, 80, refreshes ? 97 : 90])
            try context.refresh()
        }
    }

    @Test(arguments: Backend.allCases)
    func otherCommitsDoNotAffectASnapshot(_ backend: Backend) throws {
        let (company, ids) = try Self.company(backend, 10)
        let stack = company.stack
        let ages = try stack.readAndWait { context throws in
            var ages: [Int] = []
            try context.fetchInBatches(From<Person>(), size: 3) { people in
                ages += people.map(\.age)
                let isFirst = ages.count == 3
                try stack.performAndWait { transaction throws in
                    try transaction.edit(ids[9]).age += 1
                    if isFirst { try transaction.delete(try transaction.edit(ids[5])) }
                }
            }
            return ages
        }
        #expect(ages == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90])
        #expect(stack.openSnapshots.isEmpty)
        // An unqueued transaction shows its snapshot until it is moved.
        let transaction = stack.beginUnsafe()
        var seen: [Int] = []
        try transaction.fetchInBatches(From<Person>().orderBy(.descending(\.age)), size: 3) { people in
            seen += people.map(\.age)
            if seen.count == 3 { try stack.performAndWait { try $0.edit(ids[0]).age = -1 } }
            if seen.count == 6 { transaction.refresh() }
        }
        #expect(seen == [94, 80, 70, 60, 40, 30, 20, 10, -1])
    }
}
