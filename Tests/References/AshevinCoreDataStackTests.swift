import PolyStore
import TestSupport
import Testing

/// ashevin's CoreDataStack, README, "Predicates": dictionaries, `and`, `or`, and the operators.
@MainActor @Suite struct AshevinCoreDataStackTests {
    @Test(arguments: Backend.forObjectLayer)
    func dictionariesHoldValuesRangesAndLists(_ backend: Backend) throws {
        let people = try People(backend)
        let view = people.stack.view
        func ages(_ condition: Where<MyPerson>) throws -> [Int] {
            try view.fetchAll(From<MyPerson>(), condition, OrderBy(.ascending(\.age))).map(\.age)
        }
        // predicate(for: ["someKey": 5])
        #expect(try ages(Where(["age": 30])) == [30])
        // predicate(for: ["someKey": 5...10])
        #expect(try ages(Where(["age": 16...22])) == [16, 17, 22])
        // predicate(for: ["someKey", [1, 3, 5]])
        #expect(try ages(Where(["age": [16, 30, 99]])) == [16, 30])
        // Several keys are joined by AND.
        #expect(try ages(Where(["age": 16...35, "gender": "M"])) == [17, 30, 35])
        // .or(conditions), .or(predicate), .and(conditions), .and(predicate)
        #expect(try ages(Where(["age": 16]).or(["age": 42])) == [16, 42])
        #expect(try ages(Where(["age": 16]).or(Where(["age": 42]))) == [16, 42])
        #expect(try ages(Where(["gender": "M"]).and(["name": "Monk"])) == [17, 42])
        #expect(try ages(Where(["gender": "M"]).and(Where(["name": "Monk"]))) == [17, 42])
        // && and ||
        #expect(try ages(Where(["gender": "M"]) && Where(["name": "Monk"]) || Where(["age": 16])) == [16, 17, 42])
    }

    @Test(arguments: Backend.forObjectLayer)
    func queriesRunOnAContextOfTheirOwn(_ backend: Backend) async throws {
        let people = try People(backend)
        // manager.query { context in … }: reading in the background
        let count = try await people.stack.read { context in try context.fetchCount(From<MyPerson>(), Where(["location": "Taipei"])) }
        #expect(count == 4)
        // manager.viewQuery { context in … }: on the main thread
        #expect(try people.stack.view.fetchCount(From<MyPerson>(), Where(["location": nil])) == 1)
    }
}
