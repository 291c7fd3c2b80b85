import EngineTestSupport
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreKeyValue

@Suite struct VerifierTests {
    /// Opens a store with chunks of 1 KiB, so that a photo takes several.
    private func opened() throws -> Opened {
        let opened = try Opened(TestEngine(maximumPieceSize: 1024))
        try Company.fill(opened.store, 20)
        try opened.store.write { try $0.update("Person", 1, ["photo": .blob(Notes.body(1, size: 5000))]) }
        try opened.store.write { changes in
            try changes.set.setValue([1, 2, 3], named: "position")
            try changes.set.setValue([4, 5], named: "other")
            changes.set.appendLogEntry([1, 2, 3])
            changes.set.appendLogEntry([UInt8](repeating: 7, count: 1500))
        }
        try #require(try opened.backend.verify() == [])
        return opened
    }

    @Test(arguments: Damage.all)
    func damageIsFoundAndNamed(_ damage: Damage) throws {
        let opened = try opened()
        try damage.apply(opened)
        let findings = try opened.backend.verify()
        for expected in damage.findings { #expect(findings.contains { $0.contains(expected) }, "\(expected) in \(findings)") }
        if damage.findings.count == 1 { #expect(findings.count == 1, "\(findings)") }
    }

    /// After any damage, reading returns an error or a result.
    @Test(arguments: Damage.all)
    func damageNeverTraps(_ damage: Damage) throws {
        let opened = try opened()
        try damage.apply(opened)
        let store = opened.store
        let person = try store.entity("Person")
        for field in person.fields {
            _ = failure { _ = try store.ids(FetchRequest(person, sortKeys: [SortKey(FieldReference(field), ascending: false)])) }
        }
        for id in Int64(1)...20 {
            _ = failure { _ = try store.values("Person", id) }
            _ = failure { try store.write { try $0.update("Person", id, ["age": .integer(1), "photo": .null]) } }
            _ = failure { try store.write { try $0.delete("Person", id) } }
        }
        for entity in store.schema.entities {
            for relationship in entity.relationships { _ = failure { _ = try store.read { try $0.related(relationship, of: [1, 2, 5]) } } }
        }
        _ = failure { _ = try store.read { try $0.value(named: "position") } }
        _ = failure { _ = try store.read { try $0.valueNames(prefix: "") } }
        _ = failure { _ = try store.read { try $0.logEntries(after: 0, limit: 10) } }
        _ = failure { _ = try store.read { try $0.logBounds() } }
        _ = failure { try opened.backend.rebuildIndexes() }
    }

    @Test func aDamagedNamedValueIsAnErrorThatNamesItAndCanBeSetAgain() throws {
        let opened = try opened()
        let key = Keyspace.Metadata.value.key(named: "position")
        opened.engine[key] = try #require(opened.engine[key]).map { $0 ^ 1 }
        let error = try #require(failure { _ = try opened.store.read { try $0.value(named: "position") } })
        #expect(error.code == .corrupt && error.message.contains("the value \"position\""))
        #expect(try opened.store.read { try $0.value(named: "other") } == [4, 5])
        try opened.store.write { try $0.set.setValue([9], named: "position") }
        #expect(try opened.store.read { try $0.value(named: "position") } == [9])
        #expect(try opened.backend.verify() == [])
    }

    @Test func damagedRecordIsReportedByEveryAccessPath() throws {
        let opened = try opened()
        let key = try opened.record("Person", 5)
        var value = try #require(opened.engine[key])
        value[value.count - 1] ^= 1
        opened.engine[key] = value
        let store = opened.store
        let age = try store.field("Person", "age")
        let errors = [
            failure { _ = try store.values("Person", 5) }, failure { _ = try store.ids("Person") },
            failure { _ = try store.ids("Person", .compare(age, .equal, .integer(5))) },
            failure { _ = try store.ids("Person", .oneOf(.objectID, [.integer(5), .integer(6)])) },
            failure { try store.write { try $0.update("Person", 5, ["age": .integer(1)]) } },
        ]
        for error in errors {
            #expect(error?.code == .corrupt)
            #expect(error?.rowID == 5)
            #expect(error?.entity == "Person")
        }
        #expect(try store.values("Person", 6) != nil)
    }
}
