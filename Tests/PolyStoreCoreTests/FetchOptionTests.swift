import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

@Suite struct FetchOptionTests {
    /// Creates a stack with twenty people, each in one of four departments, and each the friend of the next.
    private func stack(_ backend: Backend, _ folder: Folder, _ faults: Faults) throws -> DataStack {
        let stack = try DataStack(companySchema)
        try stack.addStore(backend.store(in: folder).wrapped(faults))
        try stack.performAndWait { transaction throws in
            let departments = try (0..<4).map { number in
                let department = try transaction.create(Into<Department>())
                department.title = "d\(number)"
                return department
            }
            var last: Person?
            for number in 0..<20 {
                let person = try transaction.create(Into<Person>())
                (person.email, person.age) = ("p\(number)", number)
                person.department = departments[number % 4]
                if let last { person.friends = [last] }
                last = person
            }
        }
        return stack
    }

    @Test(arguments: Backend.forObjectLayer)
    func prefetchingTakesOneQueryForEachRelationship(_ backend: Backend) throws {
        let (folder, faults) = (try Folder(), Faults())
        let stack = try stack(backend, folder, faults)
        @Sendable func touch(_ people: [Person]) -> Int {
            people.reduce(0) {
                $0 + ($1.department?.title.count ?? 0) + $1.friends.reduce(0) { $0 + $1.age } + ($1.department?.people.count ?? 0)
            }
        }
        let all = From<Person>().orderBy(.ascending(\.age))
        let plain = try stack.readAndWait { context throws in
            let people = try context.fetchAll(all)
            _ = faults.takeAsked()
            return (touch(people), faults.takeAsked())
        }
        #expect(plain.1 > 20)
        try stack.readAndWait { context throws in
            _ = faults.takeAsked()
            let people = try context.fetchAll(all.tweak { $0.prefetch = ["department.people", "friends"] })
            // The people, their departments, the people of those departments, which are loaded already, and the friends.
            #expect(faults.takeAsked() <= 5)
            #expect(touch(people) == plain.0)
            #expect(faults.takeAsked() == 0)
            #expect(throws: StoreError.self) { try context.fetchAll(all.tweak { $0.prefetch = ["age"] }) }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func withoutValuesObjectsAreFaults(_ backend: Backend) throws {
        let (folder, faults) = (try Folder(), Faults())
        let stack = try stack(backend, folder, faults)
        try stack.readAndWait { context throws in
            let people = try context.fetchAll(From<Person>().where(\.age >= 15).tweak { $0.includesPropertyValues = false })
            #expect(people.count == 5 && people.allSatisfy(\.isFault))
            #expect(people.map(\.age) == [15, 16, 17, 18, 19])
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func aLazyListReadsABatchAtATime(_ backend: Backend) throws {
        let (folder, faults) = (try Folder(), Faults())
        let stack = try stack(backend, folder, faults)
        try stack.readAndWait { context throws in
            let people = try context.fetchLazily(From<Person>().orderBy(.descending(\.age)), batchSize: 6)
            #expect(people.count == 20)
            #expect(people.objectIDs.count == 20)
            _ = faults.takeAsked()
            #expect(people[7].age == 12)
            #expect(people[11].age == 8)
            #expect(people[6].email == "p13")
            #expect(faults.takeAsked() == 1)
            #expect(people.map(\.age) == (0..<20).reversed())
            // Four batches, the first of them loaded already.
            #expect(faults.takeAsked() <= 4)
            #expect(people.last?.age == 0 && people.first?.age == 19)
            #expect(try context.fetchLazily(From<Person>().where(\.age > 100)).isEmpty)
            #expect(throws: StoreError.self) { try context.fetchLazily(From<Person>(), batchSize: 0) }
        }
    }
}

extension FetchOptionTests {
    @Test(arguments: Backend.forObjectLayer)
    func everyRequestCanBeExplained(_ backend: Backend) throws {
        let company = try Company(backend)
        try company.people(6)
        try company.stack.readAndWait { context throws in
            let (rows, plans) = try context.explaining {
                try context.queryAttributes(From<Person>(), Select("age", .count), Where(\.age >= 30), GroupBy("age"))
            }
            #expect(rows.count == 3)
            #expect(plans.count == 1 && plans[0].access.contains("Person_age") && plans[0].rowsReturned == 3, "\(plans)")
            let (count, more) = try context.explaining {
                try context.fetchCount(From<Person>().where(\.age < 20))
                    + context.fetchAll(From<Person>().where(\.email == "p3@example.com")).count
            }
            #expect(count == 3)
            #expect(more.count == 2 && more[1].access.contains("Person_email"), "\(more)")
            #expect(try context.explaining { 1 }.plans.isEmpty)
        }
    }
}
