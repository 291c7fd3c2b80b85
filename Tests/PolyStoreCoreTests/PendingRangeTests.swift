import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// The cost of a fetch in a transaction depends on the changes since the last one, not on all pending changes: ranges, text and limits.
@Suite struct PendingRangeTests {
    @Test(arguments: Backend.forObjectLayer)
    func repeatedRangeLooksAtNewObjectsOnly(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.stack.performAndWait { transaction throws in
            let chain = From<Person>().where(\.age >= 3 && \.age < 6)
            for number in 0..<500 {
                _ = try transaction.createPerson(number)
                #expect(try transaction.fetchAll(chain).count == min(max(number - 2, 0), 3))
            }
            #expect(transaction.pendingStatistics(Person.self) == (500, 500))
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func rangesThatDifferLookAtFewObjectsEach(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.stack.performAndWait { transaction throws in
            for number in 0..<1000 {
                _ = try transaction.createPerson(number)
                let found = try transaction.fetchAll(From<Person>(), Where(\.age > number - 4 && \.age <= number))
                #expect(found.map(\.age) == Array(max(0, number - 3)...number))
                let named = try transaction.fetchAll(From<Person>(), Where(.beginsWith(\.email, "n\(number)")))
                #expect(named.map(\.age) == [number])
            }
            // About 16 evaluations per fetch until the indexes of the pending changes exist, plus the matches.
            #expect(transaction.pendingStatistics(Person.self).evaluated < 100 * 1000)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func limitOfManyReadsFew(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.stack.performAndWait { transaction throws in
            let chain = From<Person>().where(\.age >= 0).orderBy(.descending(\.age)).limit(3).offset(1)
            for number in 0..<500 {
                _ = try transaction.createPerson(number)
                #expect(try transaction.fetchAll(chain).map(\.age) == Array((0..<number).suffix(3).reversed()))
                #expect(try transaction.fetchAll(From<Person>().limit(2)).map(\.age) == Array((0...number).prefix(2)))
            }
            #expect(transaction.pendingStatistics(Person.self) == (500, 1000))
        }
    }

    private struct Entry {
        let person: Person
        var age: Int
        var nickname: String?
    }

    /// The engine does not affect pending changes, so one backend runs every seed, and the others a short program.
    private static let programs: [(Backend, Int)] = Backend.forObjectLayer.flatMap { backend in
        (backend == .memory ? 1...3 : Ring.size(1...1, thorough: 1...3)).map { (backend, $0) }
    }

    /// Enough objects for every access path, with every kind of change in between.
    @Test(arguments: programs)
    func fetchesAgreeWithAListAfterAnyChange(_ backend: Backend, _ seed: Int) throws {
        let company = try Company(backend)
        let ids = try company.people(100)
        try company.stack.performAndWait { transaction throws in
            var random = GraphTests.Random(seed)
            var entries = try transaction.fetchExisting(ids).map { Entry(person: $0, age: $0.age, nickname: $0.nickname) }
            for step in 0..<(backend == .memory ? 1500 : Ring.size(250, thorough: 1500)) {
                let index = random.next(entries.count)
                switch random.next(10) {
                case 0...4:
                    let person = try transaction.createPerson(random.next(2000))
                    person.email = "s\(step)"
                    person.nickname = step % 3 == 0 ? nil : "m\(random.next(300))"
                    entries.append(Entry(person: person, age: person.age, nickname: person.nickname))
                case 5, 6:
                    entries[index].age = random.next(2000)
                    entries[index].person.age = entries[index].age
                case 7:
                    entries[index].nickname = random.next(3) == 0 ? nil : "m\(random.next(300))"
                    entries[index].person.nickname = entries[index].nickname
                case 8 where entries.count > 50: try transaction.delete(entries.remove(at: index).person)
                default: break
                }
                try Self.check(transaction, entries, &random, "seed \(seed), step \(step)")
            }
        }
    }

    private static func check(_ transaction: Transaction, _ entries: [Entry], _ random: inout GraphTests.Random, _ what: String) throws {
        let (low, high) = (random.next(2200) - 100, random.next(2200) - 100)
        let prefix = "m\(random.next(30))"
        let (condition, isSelected): (Where<Person>, (Entry) -> Bool) =
            switch random.next(8) {
            case 0: (\.age > low && \.age <= low + 20, { $0.age > low && $0.age <= low + 20 })
            case 1: (\.age >= low && \.age < high, { $0.age >= low && $0.age < high })
            case 2: (\.age <= low, { $0.age <= low })
            case 3: (.beginsWith(\.nickname, prefix), { $0.nickname?.hasPrefix(prefix) ?? false })
            case 4: (\.age >= 500, { $0.age >= 500 })
            case 5: (\.nickname == prefix && \.age > 700, { $0.nickname == prefix && $0.age > 700 })
            case 6: (\.nickname < "m2", { $0.nickname.map { $0 < "m2" } ?? false })
            default: (Where(true), { _ in true })
            }
        var chain = From<Person>().where(condition)
        var wanted = entries.filter(isSelected)
        switch random.next(4) {
        case 0:
            chain = chain.orderBy(.ascending(\.age))
            wanted.sort { ($0.age, $0.person.objectID.rowID) < ($1.age, $1.person.objectID.rowID) }
        case 1:
            chain = chain.orderBy(.descending(\.age))
            wanted.sort { (-$0.age, $0.person.objectID.rowID) < (-$1.age, $1.person.objectID.rowID) }
        default: wanted.sort { $0.person.objectID.rowID < $1.person.objectID.rowID }
        }
        #expect(try transaction.fetchCount(chain) == wanted.count, "\(what): count")
        if random.next(3) > 0 {
            let (limit, offset) = (random.next(20), random.next(5))
            chain = chain.limit(limit).offset(offset)
            wanted = Array(wanted.dropFirst(offset).prefix(limit))
        }
        #expect(try transaction.fetchAll(chain) == wanted.map(\.person), "\(what)")
    }
}
