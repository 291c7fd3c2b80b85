import EngineTestSupport
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreKeyValue

/// Resetting a store that is larger than one transaction of its engine.
@Suite struct ResetTests {
    /// Returns an engine with 2,000 people of some 100 bytes of keys each, whose removal takes several transactions.
    private func filled() throws -> TestEngine {
        let engine = TestEngine(maximumTransactionSize: 65_536)
        let opened = try Opened(engine)
        for start in stride(from: Int64(1), to: 2000, by: 100) {
            try opened.store.write { changes in
                for id in start..<start + 100 { try changes.insert("Person", id, Company.person(id)) }
            }
        }
        try opened.backend.close()
        return engine
    }

    private static func otherModel() throws -> ResolvedSchema {
        try ResolvedSchema(Company.description([.attribute(AttributeDescription(name: "motto", type: .string, isOptional: true))]))
    }

    private func expectEmpty(_ opened: Opened) throws {
        let people = try opened.store.read { try $0.count(FetchRequest(try opened.store.entity("Person"))) }
        #expect(people == 0)
        #expect(try opened.backend.verify() == [])
        try opened.store.write { try $0.insert("Person", 1, ["name": .text("x"), "motto": .text("y")]) }
        #expect(try opened.store.values("Person", 1)?["motto"] == .text("y"))
    }

    @Test func aStoreLargerThanATransactionIsEmptied() throws {
        let engine = try filled()
        #expect(engine.keys().count > 10_000)
        try expectEmpty(try Opened(engine, Self.otherModel(), resets: true))
    }

    /// After an interruption at any step, the next opening completes the reset, whether or not it requests one, and no old data is left.
    @Test func anInterruptedResetIsFinishedByTheNextOpening() throws {
        let whole = try filled()
        var interruptions = 0
        for commits in 0... {
            let engine = whole.copy()
            engine.fail(after: commits)
            let failure = Result { try Opened(engine, try Self.otherModel(), resets: true) }
            engine.fail(after: nil)
            if case .success(let opened) = failure {
                try expectEmpty(opened)
                break
            }
            if commits == 0 {
                // Nothing was written yet: the store is unchanged.
                let opened = try Opened(engine)
                #expect(try opened.store.read { try $0.count(FetchRequest(try opened.store.entity("Person"))) } == 2000)
                continue
            }
            interruptions += 1
            #expect(throws: StoreError.self) { try Opened(engine.copy(), try Self.otherModel(), isReadOnly: true) }
            try expectEmpty(try Opened(engine.copy(), try Self.otherModel()))
            let old = try Opened(engine, resets: true)
            #expect(try old.store.read { try $0.count(FetchRequest(try old.store.entity("Person"))) } == 0)
            #expect(try old.backend.verify() == [])
        }
        #expect(interruptions > 2)
    }

    @Test func openStoreDetectsAResetInSteps() throws {
        let engine = try filled()
        let schema = try Company.schema()
        let handle = EngineHandle(private: engine)
        let first = try KeyValueBackend(handle, OpenRequest(schema: schema))
        handle.retain()
        let second = try KeyValueBackend(handle, OpenRequest(schema: try Self.otherModel(), resetsOnModelMismatch: true))
        #expect(throws: StoreError.self) { try first.beginWrite() }
        #expect(throws: StoreError.self) { try first.beginRead() }
        #expect(try second.verify() == [])
    }
}
