import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Objects by ids that a user types, and orders as format strings have them.
@Suite struct DynamicLookupTests {
    private func stack(_ backend: Backend, in folder: Folder) throws -> DataStack {
        let stack = try DataStack(Schema("Company", Person.self, Department.self, Project.self))
        try stack.addStore(backend.store(in: folder))
        try stack.performAndWait { transaction in
            let research = try transaction.create(Department.self) { $0.title = "Research" }
            for (index, name) in ["ann", "bobby", "cid"].enumerated() {
                let person = try transaction.create(Person.self)
                (person.email, person.age, person.department) = (name, 20 + 10 * index, research)
            }
        }
        try stack.closeAndWait()
        return try DataStack(opening: backend.store(in: folder))
    }

    @Test(arguments: Backend.persistent)
    func objectIsFoundByEntityAndRowIDOrByURI(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try stack(backend, in: folder)
        try stack.readAndWait { context throws in
            let bobby = try #require(try context.fetchOne(EntityQuery("Person").where("email == 'bobby'")))
            let id = try stack.objectID("Person", rowID: bobby.id.rowID)
            #expect(id == bobby.id)
            #expect(stack.objectID(bobby.id.uri) == bobby.id)
            #expect(try context.fetchExisting(id) === bobby)
            #expect(try context.fetchExisting(stack.objectID("Person", rowID: 999)) == nil)
            for uri in ["", "polystore://", bobby.id.uri + "x", String(bobby.id.uri.dropLast()), "polystore://00/Person/1"] {
                #expect(stack.objectID(uri) == nil)
            }
            let unknown = failure { _ = try stack.objectID("Nobody", rowID: 1) }
            #expect(unknown?.code == .storeNotFound)
        }
        #expect(stack.stores[0].schemaDescription.entities.map(\.name) == ["Person", "Dept", "Project"])
    }

    @Test(arguments: Backend.persistent)
    func ordersAreCalculationsAndFunctionsOfGroupsToo(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try stack(backend, in: folder)
        try stack.readAndWait { context throws in
            func names(_ query: EntityQuery) throws -> [QueryValue?] { try context.fetchAll(query).map { try $0.value("email") } }
            #expect(try names(EntityQuery("Person").orderBy("length(email)").orderBy("age", ascending: false)) == ["cid", "ann", "bobby"])
            #expect(try names(EntityQuery("Person").orderBy("0 - age")) == ["cid", "bobby", "ann"])
            #expect(try names(EntityQuery("Person").orderBy("#\"age\"", ascending: false).limit(1)) == ["cid"])
            #expect(try names(EntityQuery("Person").where("email IN %@ AND age > %d", arguments: [["ann", "cid"], 20])) == ["cid"])
            #expect(
                try context.queryAttributes(
                    EntityQuery("Person").orderBy("max(age)", ascending: false), Select("email", .maximum("age", as: "oldest")),
                    groupBy: ["email"]
                ).map { $0["email"] } == ["cid", "bobby", "ann"])
            let incomplete = failure { _ = try names(EntityQuery("Person").orderBy("age +")) }
            #expect(incomplete?.code == .invalidPredicate)
            let misspelt = failure { _ = try names(EntityQuery("Person").orderBy("length(agee)")) }
            #expect(misspelt?.message.contains("Did you mean \"age\"?") ?? false)
        }
    }
}
