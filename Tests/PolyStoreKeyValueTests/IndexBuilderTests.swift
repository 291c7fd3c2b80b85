import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreKeyValue

@Suite struct IndexBuilderTests {
    private static let all: Set<String> = ["Person_name", "Person_email", "Person_age", "Person_team", "Person_city_age"]

    private func emailRequest(_ store: Store, _ id: Int64) throws -> FetchRequest {
        FetchRequest(
            try store.entity("Person"),
            predicate: .compare(try store.field("Person", "email"), .equal, .text("\(id)@example.com")))
    }

    /// Expects the same query results with and without indexes.
    private func expectSameAnswers(_ store: Store, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let person = try store.entity("Person")
        let age = try store.field("Person", "age")
        let requests = [
            try emailRequest(store, 17), FetchRequest(person, predicate: .compare(age, .greater, .integer(80))),
            FetchRequest(person, sortKeys: [SortKey(age, ascending: false)], limit: 50),
            FetchRequest(
                person,
                predicate: .and([
                    .compare(try store.field("Person", "city"), .equal, .text("Rome")), .compare(age, .less, .integer(5)),
                ])),
        ]
        try store.read { transaction in
            for request in requests {
                var plain = request
                plain.ignoresIndexes = true
                #expect(try transaction.ids(request) == transaction.ids(plain), sourceLocation: sourceLocation)
                #expect(try transaction.count(request) == transaction.count(plain), sourceLocation: sourceLocation)
            }
            for team in Int64(1)...2 {
                let members = try transaction.related(try store.relationship("Team", "members"), of: [team])[team]
                let plain = try transaction.ids(
                    FetchRequest(person, predicate: .compare(try store.field("Person", "team"), .equal, .integer(team))))
                #expect(members == plain, sourceLocation: sourceLocation)
            }
        }
    }

    @Test func rebuildingGivesTheSameEntries() throws {
        let opened = try Opened()
        try Company.fill(opened.store, 450)
        let before = opened.engine.copy()
        try opened.backend.rebuildIndexes()
        #expect(opened.engine.keys() == before.keys())
        // The rebuild removes entries without a row, and adds missing entries.
        let index = try opened.index("Person_age")
        for key in before.keys(index.prefix).enumerated() where key.offset % 3 == 0 { opened.engine[key.element] = nil }
        opened.engine[index.prefix + [0x14] + [UInt8](repeating: 9, count: 16)] = []
        #expect(try !opened.backend.verify().isEmpty)
        try opened.backend.rebuildIndexes(["Person_age"])
        #expect(try opened.backend.verify() == [])
        #expect(opened.engine.keys() == before.keys())
        #expect(try opened.store.read { try $0.version } == 1, "building indexes changes no object")
    }

    @Test func aReadOnlyStoreIsNotRebuilt() throws {
        let opened = try Opened()
        try Company.fill(opened.store, 20)
        try opened.backend.close()
        let before = opened.engine.keys()
        let reader = try Opened(opened.engine, isReadOnly: true)
        for names: Set<String>? in [nil, ["Person_age"], ["unknown"]] {
            let error = failure { try reader.backend.rebuildIndexes(names) }
            #expect(error?.code == .readOnly)
            #expect(error?.message.contains("for reading only") == true)
        }
        #expect(opened.engine.keys() == before)
        #expect(try reader.backend.verify() == [])
    }

    @Test func indexesAreBuiltWhileTheStoreIsInUse() async throws {
        let opened = try Opened()
        try Company.fill(opened.store, 450)
        let store = opened.store
        let writer = Task.detached {
            for round in Int64(0)..<60 {
                try store.write { changes in
                    try changes.insert("Person", 10_000 + round, Company.person(10_000 + round))
                    try changes.update("Person", round * 7 + 10, ["age": .integer(round), "city": .text("Bonn"), "team": .null])
                    try changes.delete("Person", round * 7 + 11)
                }
            }
        }
        for _ in 0..<3 {
            try opened.backend.rebuildIndexes()
            try expectSameAnswers(store)
        }
        try await writer.value
        #expect(try opened.backend.verify() == [])
        #expect(try store.ids("Person").count == 450)
        try expectSameAnswers(store)
    }

    /// The N-th commit of a build fails: until the next opening, the index is not read and is kept up to date.
    @Test(arguments: 0...4)
    func interruptedWorkIsContinuedAtTheNextOpening(_ commits: Int) throws {
        let opened = try Opened()
        try Company.fill(opened.store, 450)
        let before = opened.engine.copy()
        opened.engine.fail(after: commits)
        let error = failure { try opened.backend.rebuildIndexes(["Person_email"]) }
        opened.engine.fail(after: nil)
        // The first commit makes the index write-only, two are full batches, the last makes it readable.
        #expect((error?.code == .io) == (commits < 4))
        let isBuilt = commits == 0 || commits == 4
        #expect(try opened.state("Person_email")?.phase == (isBuilt ? .readable : .writeOnly))
        #expect(try opened.store.read { try $0.plan(emailRequest(opened.store, 5)) }.isScan != isBuilt)
        try expectSameAnswers(opened.store)
        // Rows before and after the position that the build reached.
        try opened.store.write { changes in
            for id in [Int64(3), 250, 440] {
                try changes.update("Person", id, ["email": .text("new \(id)")])
                try changes.delete("Person", id + 1)
            }
            try changes.insert("Person", 9000, Company.person(9000))
        }
        try expectSameAnswers(opened.store)
        try opened.backend.close()

        let reopened = try Opened(opened.engine)
        #expect(try reopened.state("Person_email")?.phase == .readable)
        #expect(try reopened.store.read { try $0.plan(emailRequest(reopened.store, 5)) }.access == "index Person_email (email=?)")
        #expect(try reopened.backend.verify() == [])
        try expectSameAnswers(reopened.store)
        #expect(opened.engine.keys(Keyspace.Metadata.buildProgress.key()) == [])
        #expect(opened.engine.keys().count - before.keys().count == -12, "two people less, each a record and five entries")
    }

    /// Unique constraints hold while the index is being built.
    @Test func uniquenessHoldsWhileTheIndexIsBeingBuilt() throws {
        let opened = try Opened()
        try Company.fill(opened.store, 450)
        let long = String(repeating: "long ", count: 200)
        try opened.store.write { try $0.insert("Person", 451, ["email": .text(long)]) }
        opened.engine.fail(after: 2)
        _ = failure { try opened.backend.rebuildIndexes(["Person_email"]) }
        opened.engine.fail(after: nil)
        #expect(try opened.state("Person_email")?.phase == .writeOnly)
        // One value that is in the index already, some that are not, one too long for its key.
        for (held, holder) in [("7@example.com", Int64(7)), ("300@example.com", 300), ("450@example.com", 450), (long, 451)] {
            for isInsert in [true, false] {
                let error = failure {
                    try opened.store.write { changes in
                        if isInsert {
                            try changes.insert("Person", 9000, ["email": .text(held)])
                        } else {
                            try changes.update("Person", 1, ["email": .text(held)])
                        }
                    }
                }
                #expect(error?.code == .constraint, "\(held.prefix(20)) \(isInsert)")
                #expect(error?.attribute == "email")
                #expect(error?.message.contains("\(holder)") == true)
            }
        }
        // Released values are available, exchanged values are accepted, and an object may keep its own.
        try opened.store.write { changes in
            try changes.delete("Person", 400)
            try changes.insert("Person", 9001, ["email": .text("400@example.com")])
            try changes.update("Person", 410, ["email": .text("420@example.com")])
            try changes.update("Person", 420, ["email": .text("410@example.com")])
            try changes.update("Person", 430, ["email": .text("430@example.com"), "age": .integer(1)])
            try changes.update("Person", 451, ["email": .text(long), "age": .integer(1)])
        }
        let reopened = try Opened(opened.engine)
        #expect(try reopened.backend.verify() == [])
        #expect(try reopened.state("Person_email")?.phase == .readable)
    }

    @Test func twoObjectsWithOneUniqueValueAreNamedAndTheIndexStaysUnused() throws {
        let opened = try Opened()
        try Company.fill(opened.store, 100)
        // Two people get one address, by a change of the engine's keys.
        opened.engine[try opened.entry("Person_email", 5)] = nil
        try opened.store.write { try $0.insert("Person", 200, ["email": .text("5@example.com")]) }
        #expect(try opened.backend.verify() == ["The index Person_email has no entry for Person 5."])
        let error = failure { try opened.backend.rebuildIndexes() }
        #expect(error?.code == .constraint)
        #expect(error?.entity == "Person")
        #expect(error?.attribute == "email")
        #expect(error?.message.contains("objects 5 and 200") == true)
        func expectUnused(_ opened: Opened) throws {
            let store = opened.store
            #expect(try opened.state("Person_email")?.phase == .writeOnly)
            #expect(try store.read { try $0.plan(emailRequest(store, 5)) }.isScan)
            #expect(try store.ids(emailRequest(store, 5)) == [5, 200])
        }
        try expectUnused(opened)
        // The store can still be opened, and repaired.
        let log = RecordingLogger(.trace)
        let reopened = try Opened(opened.engine, logger: log)
        #expect(log.lines.contains { $0.contains("error") && $0.contains("Person_email") && $0.contains("5 and 200") })
        try expectUnused(reopened)
        #expect(
            failure { try reopened.store.write { try $0.insert("Person", 201, ["email": .text("5@example.com")]) } }?.code == .constraint)
        try reopened.store.write { try $0.update("Person", 200, ["email": .text("200@example.com")]) }
        try reopened.backend.rebuildIndexes(["Person_email"])
        #expect(try reopened.backend.verify() == [])
        #expect(try !reopened.store.read { try $0.plan(emailRequest(reopened.store, 5)) }.isScan)
    }

    @Test func longValuesAreComparedAsAWholeWhileBuilding() throws {
        let opened = try Opened()
        let long = String(repeating: "x", count: 2000)
        try opened.store.write { changes in
            try changes.insert("Person", 1, ["email": .text(long + "a")])
            try changes.insert("Person", 2, ["email": .text(long + "b")])
        }
        try opened.backend.rebuildIndexes()
        #expect(try opened.backend.verify() == [])
        // The same value twice, by a change of the engine's keys.
        opened.engine[try opened.entry("Person_email", 1)] = nil
        try opened.store.write { try $0.insert("Person", 3, ["email": .text(long + "a")]) }
        let error = failure { try opened.backend.rebuildIndexes(["Person_email"]) }
        #expect(error?.code == .constraint)
        #expect(error?.message.contains("1 and 3") == true)
    }
}
