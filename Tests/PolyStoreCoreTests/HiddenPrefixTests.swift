import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Fetches in a transaction whose first stored rows were updated or deleted: scans begin after those rows.
@Suite struct HiddenPrefixTests {
    /// The values that people are sorted by.
    struct Entry {
        let person: Person
        var age: Int
        var nickname: String?
        var key: Int64 { person.objectID.rowID }
    }

    struct Sorting: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let order: OrderBy<Person>
        let precedes: @Sendable (Entry, Entry) -> Bool

        init(_ name: String, _ keys: [OrderKey<Person>], _ precedes: @escaping @Sendable (Entry, Entry) -> Bool) {
            testDescription = name
            order = OrderBy(keys)
            self.precedes = precedes
        }

        /// Sorts missing names first.
        private static func name(_ entry: Entry) -> String { entry.nickname.map { "1" + $0 } ?? "0" }
        private static func nameOrLast(_ entry: Entry) -> String { entry.nickname ?? "~" }

        static let all = [
            Sorting("by id", []) { $0.key < $1.key },
            Sorting("age", [.ascending(\.age)]) { ($0.age, $0.key) < ($1.age, $1.key) },
            Sorting("age descending", [.descending(\.age)]) { (-$0.age, $0.key) < (-$1.age, $1.key) },
            Sorting("name", [.ascending(\.nickname)]) { (name($0), $0.key) < (name($1), $1.key) },
            Sorting("name descending", [.descending(\.nickname)]) {
                name($0) == name($1) ? $0.key < $1.key : name($0) > name($1)
            },
            Sorting("name, missing last", [.ascending(\.nickname, nulls: .last)]) { (nameOrLast($0), $0.key) < (nameOrLast($1), $1.key) },
            Sorting("name, then age descending", [.ascending(\.nickname), .descending(\.age)]) {
                (name($0), -$0.age, $0.key) < (name($1), -$1.age, $1.key)
            },
            Sorting("age descending, then name, missing last", [.descending(\.age), .ascending(\.nickname, nulls: .last)]) {
                (-$0.age, nameOrLast($0), $0.key) < (-$1.age, nameOrLast($1), $1.key)
            },
        ]
    }

    /// Creates people with few distinct ages and names.
    private static func company(_ backend: Backend, _ count: Int) throws -> Company {
        let company = try Company(backend)
        try company.stack.performAndWait { transaction throws in
            for number in 0..<count {
                let person = try transaction.createPerson(number)
                person.age = number * 7 % 12
                person.nickname = number % 4 == 0 ? nil : "m\(number * 5 % 9)"
            }
        }
        return company
    }

    private static func chain(_ sorting: Sorting, limit: Int = 1000, offset: Int = 0) -> FetchChain<Person> {
        var chain = From<Person>().limit(limit).offset(offset)
        sorting.order.apply(to: &chain)
        return chain
    }

    private static func entries(_ transaction: Transaction) throws -> [Entry] {
        try transaction.fetchAll(From<Person>()).map { Entry(person: $0, age: $0.age, nickname: $0.nickname) }
    }

    @Test(arguments: Backend.forObjectLayer, Sorting.all)
    func firstObjectsAreDeletedUntilNoneIsLeft(_ backend: Backend, _ sorting: Sorting) throws {
        let company = try Self.company(backend, 120)
        try company.stack.performAndWait { transaction throws in
            var expected = try Self.entries(transaction).sorted(by: sorting.precedes).map(\.person)
            while !expected.isEmpty {
                let limit = expected.count % 3 + 1
                let found = try transaction.fetchAll(Self.chain(sorting, limit: limit))
                #expect(found == Array(expected.prefix(limit)))
                try transaction.delete(found)
                expected.removeFirst(min(limit, expected.count))
            }
            #expect(try transaction.fetchOne(Self.chain(sorting)) == nil)
            #expect(try transaction.fetchAll(Self.chain(sorting)) == [])
        }
        #expect(try company.stack.readAndWait { try $0.fetchCount(From<Person>()) } == 0)
    }

    @Test(arguments: Backend.forObjectLayer)
    func firstObjectsAreChangedUntilNoneMatches(_ backend: Backend) throws {
        let company = try Self.company(backend, 120)
        try company.stack.performAndWait { transaction throws in
            // Equality and a range in an index, and a condition without an index.
            for (condition, isOne) in [(Where<Person>(\.age == 3), true), (\.age < 8 && \.age != 3, false)] {
                let count = try transaction.fetchCount(From<Person>(), condition)
                #expect(count == (isOne ? 10 : 70))
                for number in 0..<count {
                    let person = try #require(try transaction.fetchOne(From<Person>(), condition))
                    person.age = 100 + number
                }
                #expect(try transaction.fetchOne(From<Person>(), condition) == nil)
            }
            while let person = try transaction.fetchOne(From<Person>().where(\.nickname == nil).orderBy(.descending(\.age))) {
                person.nickname = "x"
            }
            #expect(try transaction.fetchCount(From<Person>(), Where(\.nickname == "x")) == 30)
        }
    }

    /// Changes of every kind between fetches from the start of the order. Undone steps make hidden rows visible again.
    @Test(arguments: Backend.forObjectLayer, Sorting.all)
    func fetchesAgreeWithAListAfterAnyUndo(_ backend: Backend, _ sorting: Sorting) throws {
        let company = try Self.company(backend, 150)
        let draft = company.stack.beginUnsafe(supportsUndo: true)
        var random = GraphTests.Random(17)
        var entries = try Self.entries(draft).sorted(by: sorting.precedes)
        var earlier: [[Entry]] = []
        for step in 0..<200 {
            let (limit, offset) = (random.next(4) + 1, random.next(3))
            let found = try draft.fetchAll(Self.chain(sorting, limit: limit, offset: offset))
            #expect(found == entries.dropFirst(offset).prefix(limit).map(\.person), "step \(step)")
            let selected = entries.firstIndex { $0.person === found.first } ?? 0
            let kind = random.next(12)
            switch found.isEmpty ? max(kind, 9) : kind {
            case 0...5:
                earlier.append(entries)
                try draft.delete(found)
                entries.removeAll { entry in found.contains { $0 === entry.person } }
            case 6, 7:
                earlier.append(entries)
                entries[selected].age = random.next(12)
                entries[selected].person.age = entries[selected].age
            case 8:
                earlier.append(entries)
                entries[selected].nickname = random.next(3) == 0 ? nil : "m\(random.next(9))"
                entries[selected].person.nickname = entries[selected].nickname
            case 9:
                earlier.append(entries)
                let person = try draft.createPerson(1000 + step)
                person.nickname = "m\(random.next(9))"
                entries.append(Entry(person: person, age: person.age, nickname: person.nickname))
            case 10 where draft.canUndo && !earlier.isEmpty:
                try draft.undo()
                entries = earlier.removeLast()
            case 11: draft.refresh()
            default: break
            }
            draft.flush()
            entries.sort(by: sorting.precedes)
        }
    }
}
