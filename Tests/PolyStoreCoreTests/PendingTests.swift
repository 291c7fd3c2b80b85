import PolyStoreBackend
import PolyStoreCore
import Testing

/// What a transaction's fetches give before the commit is what everybody's give after it.
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

    @Test(arguments: Backend.allCases, 1...4)
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
