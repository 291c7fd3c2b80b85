import EngineTestSupport
import PolyStoreBackend

/// Runs every query on a damaged store. Each result must be correct or an error.
enum Damage {
    static func verdict(_ engine: String, _ path: String, head: Int) -> String {
        let store: Store
        do { store = try openStore(engine, path) } catch { return "error opening: \(summary(error))" }
        defer { try? store.backend.close() }
        let truth = Truth.after(head)
        var errors: [String] = []
        var wrong: [String] = []
        for query in Query.all(truth) {
            do {
                try store.read { try query.check(store, $0, truth) }
            } catch let error as Checker.Wrong {
                wrong.append(error.description)
            } catch {
                if !(error is StoreError) { wrong.append("\(query.name): \(error)") }
                errors.append("\(query.name): \(summary(error))")
            }
        }
        var verified = "nothing"
        do {
            let findings = try store.backend.verify()
            if !findings.isEmpty { verified = "\(findings.count) findings" }
        } catch {
            verified = "an error"
        }
        if !wrong.isEmpty, let earlier = wholeCommit(store, before: head) {
            return "wrong: all of it is as after commit \(earlier), verify finds \(verified)"
        }
        if !wrong.isEmpty { return "wrong \(wrong.count) answers, \(errors.count) errors, verify finds \(verified): \(wrong[0])" }
        if let first = errors.first { return "error \(errors.count) answers: \(first)" }
        return verified == "nothing" ? "ok" : "found by verify alone"
    }

    /// Returns the number of an earlier commit that all results of a store agree with, or nil.
    private static func wholeCommit(_ store: Store, before head: Int) -> Int? {
        guard let earlier = try? store.read({ try Checker.head(store, $0) }), earlier < head else { return nil }
        let truth = Truth.after(earlier)
        let isWhole = Query.all(truth).allSatisfy { query in (try? store.read { try query.check(store, $0, truth) }) != nil }
        return isWhole ? earlier : nil
    }

    /// Like ``Checker/run(_:)``; floor and ceiling are both the number of the last commit.
    static func run(_ engine: String) {
        forEachImage { path, floor, _, _ in verdict(engine, path, head: floor) }
    }
}
