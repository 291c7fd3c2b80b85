import Foundation
import PolyStore
import TestSupport
import Testing

/// Short forms of frequent queries, on each backend.
@Suite struct ShortQueryTests {
    @Test(arguments: Backend.forObjectLayer)
    func frequentQueriesHaveAShortForm(_ backend: Backend) throws {
        let staff = try Staff(backend)
        let stack = staff.stack
        try stack.readAndWait { context throws in
            let all = From<Colleague>()
            #expect(try context.exists(all.where { $0.name == "Ann" }) && !context.exists(all, Where(\.name == "Zoe")))
            let jobs: [Trade] = try context.queryValues(all, Select(\.job).distinct())
            #expect(Set(jobs) == [.engineer, .doctor, .clerk] && jobs.count == 3)
            #expect(try context.queryAttributes(all.select(Select(SelectTerm("job")).distinct() as Select<QueryRow>)).count == 3)
            #expect(try context.fetchAll(all.orderBy(SortDescriptor(\.age, order: .reverse))).first?.name == "Jan")
            let eldest = all.where { $0.age == 10 }
            #expect(try context.fetchAll(all.where(eldest ~= \.boss)).map(\.name) == ["Bob"])
            #expect(failure { _ = try context.fetchAll(all.where(eldest.limit(1) ~= \.boss)) }?.code == .invalidPredicate)
            let bob = try #require(try context.fetchOne(all.where { $0.name == "Bob" }))
            #expect(try context.fetchAll(bob.friends.where(\.age > 20)).map(\.name) == ["Cid"])
            #expect(try context.fetchAll(Set<Colleague>().where(\.age > 20)).isEmpty)
            #expect(try ObjectID<Colleague>(uri: bob.objectID.uri, in: stack) == bob.objectID)
            #expect(failure { _ = try ObjectID<Errand>(uri: bob.objectID.uri, in: stack) }?.code == .notFound)
            struct Row: Decodable, Equatable { let name: String, age: Int }
            let rows = try context.queryAttributes(all.where { $0.age < 20 }, Select("name", "age")).map { try $0.decode(Row.self) }
            #expect(rows == [Row(name: "Ann", age: 10)])
        }
        for _ in 1...2 {
            try staff.stack.performAndWait { try $0.upsert(Into<Colleague>(), where: \.name == "Kim") { $0.age += 5 } }
        }
        #expect(try staff.stack.readAndWait { try $0.fetchOne(From<Colleague>().where { $0.name == "Kim" })?.age } == 10)
    }

    @Test func oneObjectIsObservedAndExported() async throws {
        let staff = try Staff(.memory)
        let id = try await staff.stack.read { try $0.fetchObjectID(From<Colleague>().where { $0.name == "Ann" }) }
        let ann = try #require(id)
        var values = staff.stack.values(of: ann).makeAsyncIterator()
        #expect(try await values.next()??.age == 10)
        try await staff.stack.perform(editing: ann) { _, ann in ann.age = 11 }
        #expect(try await values.next()??.age == 11)
        try await staff.stack.perform { try $0.delete([ann]) }
        #expect(try await values.next() == .some(nil))
        let folder = try Folder()
        let stack = try DataStack(Schema("Meters", Meter.self))
        try stack.addStore(Backend.memory.store(in: folder))
        try await stack.perform { try $0.create(Meter.self) { $0.level = 7 } }
        let json = try await stack.export(From<Meter>(), format: .json)
        #expect(String(decoding: json, as: UTF8.self).contains("\"level\":7"))
    }
}
