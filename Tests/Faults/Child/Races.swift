import EngineTestSupport
import Foundation
import PolyStoreBackend

/// Conflicts between processes over a reset: opening with the schema of a later version resets the store.
enum Races {
    static func schema() throws -> ResolvedSchema {
        try ResolvedSchema(
            SchemaDescription(
                name: "faults",
                entities: [
                    EntityDescription(
                        name: "Later",
                        properties: [
                            .attribute(AttributeDescription(name: "title", type: .string, isUnique: true)),
                            .attribute(AttributeDescription(name: "body", type: .data)),
                        ])
                ]))
    }

    static func openLater(_ engine: String, _ path: String, resets: Bool) throws -> Store {
        let configuration = configuration(engine, path)
        return try Store(resets ? configuration.resettingOnModelMismatch() : configuration, try schema())
    }

    /// Retries while other processes hold the store, up to a limit that prevents a hang.
    static func patiently<Result>(_ body: () throws -> Result) throws -> Result {
        let end = ContinuousClock.now + .seconds(120)
        while true {
            do { return try body() } catch let error as StoreError where error.code == .busy || error.code == .conflict {
                if ContinuousClock.now > end { throw error }
                usleep(2000)
            }
        }
    }

    static func write(_ store: Store, _ id: Int64) throws {
        try store.write(.full) { changes in
            try changes.insert("Later", id, ["title": .text("later \(id)"), "body": .blob(Notes.body(id, size: 300))])
        }
    }

    /// Opens with a reset, commits one object and acknowledges it.
    /// - Parameter waits: Whether to retry while other processes hold the store.
    static func reset(_ engine: String, _ path: String, _ id: Int64, waits: Bool) {
        do {
            let store = try waits ? patiently { try openLater(engine, path, resets: true) } : openLater(engine, path, resets: true)
            try patiently { try write(store, id) }
            say("A \(id)")
            try store.backend.close()
        } catch {
            say("E \(summary(error))")
        }
    }

    /// Checks that the store has exactly the objects with the given ids.
    static func verdict(_ engine: String, _ path: String, _ ids: [Int64]) -> String {
        do {
            let store = try openLater(engine, path, resets: false)
            defer { try? store.backend.close() }
            let found = try store.ids("Later")
            let lost = Set(ids).subtracting(found).sorted()
            if !lost.isEmpty { return "lost \(lost), found \(found)" }
            if found != ids.sorted() { return "wrong: \(found) instead of \(ids.sorted())" }
            for id in ids {
                let values = try store.values("Later", id)
                if values != ["title": .text("later \(id)"), "body": .blob(Notes.body(id, size: 300))] { return "wrong: values of \(id)" }
            }
            let findings = try store.backend.verify()
            return findings.isEmpty ? "ok" : "wrong: verify says \(findings.prefix(2))"
        } catch {
            return "unopenable \(summary(error))"
        }
    }

    /// Keeps a store of the earlier schema open, and uses it after each line of the input: reads in an earlier transaction, reads in a new one, commits.
    static func hold(_ engine: String, _ path: String) {
        do {
            let store = try openStore(engine, path)
            let old = try store.backend.beginRead()
            let truth = Truth.after(try Checker.head(store, old))
            say("ready \(truth.number)")
            let line = readLine()
            report("snapshot") { for query in Query.all(truth) { try query.check(store, old, truth) } }
            old.end()
            report("read") { _ = try Checker.read(store, floor: truth.number, ceiling: truth.number) }
            if line == "reset" {
                // No commit may be acknowledged, however the other schema would interpret these objects.
                let objects: [(String, [String: Value])] = [
                    ("Head", ["number": .integer(9)]), ("Tag", [:]), ("Item", Truth.values(777, Truth.none)),
                ]
                for (entity, values) in objects {
                    report("commit") { try store.write(.full) { try $0.insert(entity, 777, values) } }
                }
            } else {
                report("commit") { _ = try Truth.commit(store, truth) }
            }
            report("read") { _ = try Checker.read(store, floor: truth.number, ceiling: truth.number + 1) }
            try store.backend.close()
            say("end")
        } catch {
            say("E \(summary(error))")
        }
    }

    private static func report(_ name: String, _ body: () throws -> Void) {
        do {
            try body()
            say("\(name) right")
        } catch let wrong as Checker.Wrong {
            say("\(name) wrong \(wrong)")
        } catch {
            say("\(name) error \(summary(error))")
        }
    }

    /// Opens and reads repeatedly while others write.
    static func openMany(_ engine: String, _ path: String, _ times: Int) {
        for _ in 0..<times {
            do {
                let store = try openStore(engine, path)
                try store.read { transaction in
                    let head = try Checker.head(store, transaction)
                    let count = try transaction.count(FetchRequest(try store.entity("Item")))
                    let right = Truth.after(head).ids.count
                    if count != right { say("wrong: \(count) items instead of \(right) after commit \(head)") }
                }
                try store.backend.close()
                say("ok")
            } catch {
                say("unopenable \(summary(error))")
            }
        }
    }
}
