import PolyStore
import TestSupport
import Testing

/// cygy's CoreDataStack, README: fetching from the default context, and again after changes.
@MainActor @Suite struct CygyCoreDataStackTests {
    @Test(arguments: Backend.forObjectLayer)
    func theMainContextShowsChangesOfOtherContexts(_ backend: Backend) async throws {
        let people = try People(backend)
        // defaultContext, NSFetchRequest with sort descriptors, performFetch()
        let request = From<MyPerson>().where(\.gender == "M").orderBy(.ascending(\.name), .ascending(\.age))
        #expect(try people.stack.view.fetchAll(request).map(\.age) == [30, 17, 42, 35])
        // performOperation / performBackgroundOperation, save, fetch again
        try await people.stack.perform { transaction in
            for person in try transaction.fetchAll(From<MyPerson>().where(\.name == "Monk")) { person.age += 1 }
        }
        #expect(try people.stack.view.fetchAll(request).map(\.age) == [30, 18, 43, 35])
    }
}
