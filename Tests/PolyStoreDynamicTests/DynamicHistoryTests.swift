import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// The history of stores that are opened without classes.
@Suite struct DynamicHistoryTests {
    private static let recording = HistoryOptions(recordsPreviousValues: true)

    @Test(arguments: Engine.all)
    func theHistoryHasNamesAndValues(_ engine: Engine) async throws {
        let stored = try Stored(engine, Stored.company, history: Self.recording, Stored.fillCompany)
        try stored.withClasses(history: Self.recording) { stack in
            try stack.performAndWait(sourceIdentifier: "sync") { transaction in
                let bob = try #require(try transaction.fetchOne(From<Person>().where("email == 'bob'")))
                (bob.age, bob.nickname, bob.department) = (31, "Bobby", nil)
            }
        }
        try await Stored.opened(stored.configuration, forWriting: true, history: Self.recording) { stack in
            let all = try await stack.history()
            #expect(all.map(\.author) == [nil, "sync"])
            #expect(all[0].changes.count == 7 && all[0].changes.allSatisfy { $0.kind == .inserted })
            let bob = try stack.readAndWait { try #require(try $0.fetchOne(EntityQuery("Person").where("email == 'bob'"))).id }
            let research = try stack.readAndWait { try #require(try $0.fetchOne(EntityQuery("Dept").where("title == 'Research'"))).id }
            let change = try #require(all[1].change(of: bob))
            #expect(Set(change.changedKeys) == ["age", "nickname", "department"])
            #expect(change.previousValues == ["age": 30, "department": .objectID(research)])
            #expect(try await stack.history(matching: .all.object(bob)).count == 2)
            #expect(try await stack.history(matching: .all.author("sync")).count == 1)
            #expect(try await stack.history(matching: stack.historyFilter(of: "Dept").kinds(.inserted)).flatMap(\.changes).count == 2)

            try await stack.perform(sourceIdentifier: "tool") { try $0.delete($0.edit(bob)) }
            let new = try await stack.history(since: all.token)
            #expect(new.map(\.author) == ["tool"])
            #expect(new[0].change(of: bob)?.previousValues["email"] == "bob")
            #expect(try await stack.history(since: new.token).isEmpty)

            try await stack.deleteHistory(before: all.token)
            #expect(try await stack.history().map(\.author) == ["tool"])
            let expired = try await stack.history(since: all.token)
            #expect(expired.count == 1, "the token is at the end of what was deleted")
            let error = try await requireFailure { _ = try await stack.history(since: all[0].token) }
            #expect(error.code == .historyExpired)
        }
    }

    @Test(arguments: Engine.all)
    func aFilterIncludesSubentities(_ engine: Engine) async throws {
        let stored = try Stored(engine, Schema("Parties", Party.self, Visit.self))
        try await Stored.opened(stored.configuration, forWriting: true, history: Self.recording) { stack in
            try await stack.perform { transaction in
                try transaction.create("Worker", ["name": "Will", "badge": "w"])
                let jane = try transaction.create("Human", ["name": "Jane"])
                try transaction.create("Firm", ["name": "Acme", "director": .objectID(jane.id)])
                try transaction.create("Visit", ["day": 3])
            }
            func names(_ entity: String) async throws -> [String] {
                try await stack.history(matching: stack.historyFilter(of: entity)).flatMap(\.changes).map(\.entityName).sorted()
            }
            #expect(try await names("Human") == ["Human", "Worker"])
            #expect(try await names("Party") == ["Firm", "Human", "Worker"])
            #expect(try await names("Visit") == ["Visit"])
            #expect(try requireFailure { _ = try stack.historyFilter(of: "Robot") }.code == .storeNotFound)
        }
    }

    @Test(arguments: Engine.all)
    func anAbstractEntityWithoutSubentitiesHasNoChanges(_ engine: Engine) async throws {
        let folder = try Folder()
        var part = EntityDescription(
            name: "Part",
            properties: [
                .attribute(AttributeDescription(name: EntityHierarchy.classifier, type: .string)),
                .attribute(AttributeDescription(name: "name", type: .string, isOptional: true)),
            ])
        part.hierarchy = EntityHierarchy(
            isAbstract: true, properties: ["name"],
            subentities: [
                SubentityDescription(name: "Plan", parent: "Part", isAbstract: true, properties: [], required: []),
                SubentityDescription(name: "Wheel", parent: "Part", isAbstract: false, properties: [], required: []),
            ])
        let stack = try DataStack(Schema(SchemaDescription(name: "1", entities: [part])))
        try stack.addStore(engine.store(in: folder), history: Self.recording)
        try await stack.perform { _ = try $0.create("Wheel", ["name": "a"]) }
        #expect(try await stack.history(matching: stack.historyFilter(of: "Plan")).isEmpty)
        #expect(try await stack.history(matching: stack.historyFilter(of: "Part")).count == 1)
    }

    /// A stack that only reads follows the commits of a program with classes.
    @Test(arguments: Engine.shared)
    func theHistoryIsFollowedAsOthersCommit(_ engine: Engine) async throws {
        let stored = try Stored(engine, Stored.company, history: Self.recording, Stored.fillCompany)
        let typed = try DataStack(stored.schema)
        try typed.addStore(stored.configuration, history: Self.recording)
        try await Stored.opened(stored.configuration) { stack in
            var entries = stack.followHistory().makeAsyncIterator()
            #expect(try await entries.next()?.changes.count == 7)
            for number in 0..<3 {
                try await typed.perform(sourceIdentifier: "app") { try $0.create(Person.self) { $0.email = "\(number)" } }
                let entry = try #require(try await entries.next())
                #expect(entry.author == "app" && entry.changes.map(\.kind) == [.inserted])
            }
            var filtered = stack.followHistory(since: try await stack.historyToken(), matching: .all.kinds(.deleted)).makeAsyncIterator()
            try await typed.perform { try $0.create(Person.self) { $0.email = "x" } }
            try await typed.perform { _ = try $0.deleteAll(From<Person>().where("email == 'x'")) }
            #expect(try await filtered.next()?.changes.map(\.kind) == [.deleted])
        }
        for store in typed.stores { try await typed.removeStore(store, evenIfInUse: true) }
    }

    @Test func aCancelledTaskEndsTheSequence() async throws {
        let stored = try Stored(.files(.sqlite), Stored.company, history: Self.recording, Stored.fillCompany)
        let stack = try DataStack(opening: stored.configuration)
        let task = Task {
            var count = 0
            for try await _ in stack.followHistory() { count += 1 }
            return count
        }
        task.cancel()
        #expect(try await task.value <= 1)
    }
}
