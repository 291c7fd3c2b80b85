import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// A fetch before the commit returns the same objects as any fetch after it.
@Suite struct PendingTests {
    private static let orders: [OrderBy<Person>?] = [
        nil, OrderBy(.ascending(\.age)), OrderBy(.descending(\.nickname)),
        OrderBy(.ascending(\.nickname, nulls: .last), .descending(\.age)),
    ]

    private static func chains() -> [FetchChain<Person>] {
        let conditions: [Where<Person>] = [
            Where(true), \.age > 40, \.age <= 40 && \.nickname != nil, \.nickname == nil || \.age == 7, !(\.nickname == "n3"),
            [1, 5, 7, 60] ~= \.age,
            .contains(\.email, "1"), .beginsWith(\.nickname, "n"), \.department == nil,
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

    @Test(arguments: Backend.forObjectLayer, 1...4)
    func fetchesBeforeAndAfterTheCommitAgree(_ backend: Backend, _ seed: Int) throws {
        let company = try Company(backend)
        var random = GraphTests.Random(seed)
        try company.people(20)
        for round in 0..<4 {
            let steps = (0..<30).map { _ in (random.next(8), random.next(1000), random.next(90)) }
            let base = (round + 1) * 1000
            let before = try company.stack.performAndWait { transaction in
                for (index, step) in steps.enumerated() {
                    let people = try transaction.fetchAll(From<Person>())
                    let person = people.isEmpty ? nil : people[step.1 % people.count]
                    switch step.0 {
                    case 0, 1:
                        let new = try transaction.create(Into<Person>())
                        new.email = "q\(base + index)"
                        new.age = step.2
                        new.nickname = step.2 % 3 == 0 ? nil : "n\(step.2 % 7)"
                    case 2: if let person { try transaction.delete(person) }
                    case 3, 4: person?.age = step.2
                    case 5: person?.nickname = step.2 % 2 == 0 ? nil : "n\(step.2 % 5)"
                    case 6: person?.department = try transaction.create(Into<Department>())
                    default: person?.email = "changed\(base + index)"
                    }
                }
                return try Self.chains().map { chain in
                    let ids = try transaction.fetchObjectIDs(chain)
                    #expect(try transaction.fetchAll(chain).map(\.objectID) == ids)
                    #expect(try transaction.fetchCount(chain) == ids.count)
                    return ids
                }
            }
            let after = try company.stack.readAndWait { context in try Self.chains().map { try context.fetchObjectIDs($0) } }
            for (index, (first, second)) in zip(before, after).enumerated() {
                #expect(first == second, "seed \(seed), round \(round), fetch \(index)")
            }
        }
    }
}

/// A fetch in a transaction evaluates the pending objects that may match, not all of them.
@Suite struct PendingIndexTests {
    @Test(arguments: Backend.forObjectLayer)
    func findOrCreateLooksAtOneObjectEach(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.stack.performAndWait { transaction throws in
            for round in 0..<3 {
                for number in 0..<500 {
                    if let person = try transaction.fetchOne(From<Person>(), Where(\.email == "n\(number)")) {
                        #expect(round > 0)
                        person.age += 1
                    } else {
                        #expect(round == 0)
                        _ = try transaction.createPerson(number)
                    }
                }
            }
            let (encoded, evaluated) = transaction.pendingStatistics(Person.self)
            #expect(encoded <= 1500)
            #expect(evaluated == 1000)
            #expect(try transaction.fetchCount(From<Person>(), Where(\.age > 0)) == 500)
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func nothingIsEncodedTwiceUnlessItWasChanged(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(50)
        try company.stack.performAndWait { transaction throws in
            let people = try transaction.fetchExisting(ids)
            for person in people { person.age += 1 }
            for _ in 0..<10 { #expect(try transaction.fetchCount(From<Person>(), Where(\.age > 100)) == 40) }
            #expect(transaction.pendingStatistics(Person.self) == (50, 50))
            people[3].age = 5000
            people[3].nickname = "x"
            people[4].nickname = "y"
            #expect(try transaction.fetchAll(From<Person>(), Where(\.age == 5000)) == [people[3]])
            #expect(try transaction.fetchAll(From<Person>(), Where(\.age == 31)) == [])
            #expect(transaction.pendingStatistics(Person.self) == (52, 51))
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func aValueThatComesAndGoesIsFoundOnce(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.stack.performAndWait { transaction throws in
            let jane = try transaction.createPerson(1)
            let jack = try transaction.createPerson(2)
            for number in 0..<5000 {
                jane.age = number % 2
                jane.nickname = number % 3 == 0 ? nil : "j\(number % 5)"
                let wanted = number % 2 == 1 ? [jane] : []
                if number % 7 == 0 || number > 4990 {
                    #expect(try transaction.fetchAll(From<Person>(), Where(\.age == 1)) == wanted)
                    #expect(try transaction.fetchAll(From<Person>(), Where([0, 1, 2] ~= \.age)) == [jane, jack])
                    let named = try transaction.fetchAll(From<Person>(), Where(\.nickname == "j\(number % 5)"))
                    #expect(named == (number % 3 == 0 ? [] : [jane]))
                    #expect(try transaction.fetchCount(From<Person>(), Where(\.nickname == nil)) == (number % 3 == 0 ? 2 : 1))
                }
            }
            try transaction.delete(jane)
            #expect(try transaction.fetchCount(From<Person>(), Where([0, 1, 2] ~= \.age)) == 1)
            let department = try transaction.create(Into<Department>())
            jack.department = department
            #expect(try transaction.fetchAll(From<Person>(), Where(\.department == department)) == [jack])
            jack.department = nil
            #expect(try transaction.fetchAll(From<Person>(), Where(\.department == department)) == [])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func theIndexWithTheFewestIsUsed(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.stack.performAndWait { transaction throws in
            for number in 0..<100 { try transaction.createPerson(number).age = 7 }
            #expect(try transaction.fetchCount(From<Person>(), Where(\.age == 7 && \.email == "n5")) == 1)
            #expect(try transaction.fetchCount(From<Person>(), Where([7, 8] ~= \.age && ["n5", "n6", "x"] ~= \.email)) == 2)
            #expect(transaction.pendingStatistics(Person.self) == (100, 3))
        }
    }

    @Test(arguments: Backend.forObjectLayer, [0, 1, 3, 30, 200])
    func rowsOfTheStoreBehindManyHiddenOnesAreFound(_ backend: Backend, _ limit: Int) throws {
        let company = try Company(backend)
        let ids = try company.people(300)
        try company.stack.performAndWait { transaction throws in
            for (number, person) in try transaction.fetchExisting(ids).enumerated() where number < 150 || number % 3 == 0 {
                if number % 2 == 0 { try transaction.delete(person) } else { person.age = 10_000 + number }
            }
            let visible = (150..<300).filter { $0 % 3 != 0 }.map { $0 * 10 }
            let moved = (0..<300).filter { ($0 < 150 || $0 % 3 == 0) && $0 % 2 == 1 }.map { 10_000 + $0 }
            for offset in [0, 2, 90] {
                let chain = From<Person>().orderBy(.ascending(\.age)).limit(limit).offset(offset)
                #expect(try transaction.fetchAll(chain).map(\.age) == Array((visible + moved).dropFirst(offset).prefix(limit)))
                let unsorted = From<Person>().where(\.age < 10_000).limit(limit).offset(offset)
                #expect(try transaction.fetchAll(unsorted).map(\.age) == Array(visible.dropFirst(offset).prefix(limit)))
            }
        }
    }
}
