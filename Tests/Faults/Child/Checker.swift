import EngineTestSupport
import Foundation
import PolyStoreBackend

/// Compares a store with the truth.
enum Checker {
    /// Something was answered that is not right.
    struct Wrong: Error, CustomStringConvertible {
        let kind: String
        let description: String
        init(_ kind: String, _ description: String) {
            self.kind = kind
            self.description = description
        }
        init(_ description: String) { self.init("wrong", description) }
    }

    static func expect(_ holds: Bool, _ what: @autoclosure () -> String) throws { if !holds { throw Wrong(what()) } }

    /// The number of the last commit that a store says it holds.
    static func head(_ store: Store, _ transaction: any ReadTransaction) throws -> Int {
        guard let values = try transaction.values(try store.entity("Head"), 1) else { return 0 }
        guard case .integer(let number)? = values["number"] else { throw Wrong("the head has no number") }
        return Int(number)
    }

    /// Reads all of a store in one snapshot.
    /// - Parameters:
    ///   - floor: The number of the last commit that must be there.
    ///   - ceiling: The number of the last commit that was begun.
    /// - Throws: `Wrong` for an answer that is not right, and what the store throws.
    static func read(_ store: Store, floor: Int, ceiling: Int) throws -> Truth {
        try store.read { transaction in
            let head = try head(store, transaction)
            guard head >= floor else { throw Wrong("lost", "commit \(floor) was acknowledged, and the store ends with \(head)") }
            try expect(head <= ceiling, "the store has commit \(head), and \(ceiling) was the last one begun")
            let truth = Truth.after(head)
            for query in Query.all(truth) { try query.check(store, transaction, truth) }
            return truth
        }
    }

    /// Opens an image, compares it, and goes on with it.
    static func verdict(_ engine: String, _ path: String, floor: Int, ceiling: Int) -> String {
        let store: Store
        do { store = try openStore(engine, path) } catch { return "unopenable \(told(error))" }
        defer { try? store.backend.close() }
        do {
            let truth = try read(store, floor: floor, ceiling: ceiling)
            let findings = try store.backend.verify()
            try expect(findings.isEmpty, "verify says \(findings.prefix(2))")
            // What was opened can be written to, and keeps it.
            var next = truth
            for _ in 0..<2 { next = try Truth.commit(store, next) }
            try store.backend.close()
            let again = try openStore(engine, path)
            defer { try? again.backend.close() }
            _ = try read(again, floor: next.number, ceiling: next.number)
            return "ok \(truth.number)"
        } catch let wrong as Wrong {
            return "\(wrong.kind) \(wrong.description)"
        } catch {
            return "unopenable reading: \(told(error))"
        }
    }

    /// Compares an image of a store that is being reset for another schema: it holds all of the old or the new, and never a mixture.
    static func verdictOfReset(_ engine: String, _ path: String, floor: Int, ceiling: Int, isDone: Bool) -> String {
        do {
            let store = try Races.openLater(engine, path, resets: false)
            let found = try store.ids("Later")
            try store.backend.close()
            if found.isEmpty, isDone { return "lost the object that was committed after the reset" }
            return Races.verdict(engine, path, found.isEmpty ? [] : [1])
        } catch let error as StoreError where error.code == .migrationRequired {
            if isDone { return "lost the reset" }
            return verdict(engine, path, floor: floor, ceiling: ceiling)
        } catch {
            return "unopenable \(told(error))"
        }
    }

    /// Checks the images whose lines are read from the standard input: a path, the floor, the ceiling, and how far a reset for another schema is: 0 not
    /// begun, 1 begun, 2 acknowledged. One line is printed for each.
    static func run(_ engine: String) {
        forEachImage { path, floor, ceiling, phase in
            phase == 0
                ? verdict(engine, path, floor: floor, ceiling: ceiling)
                : verdictOfReset(engine, path, floor: floor, ceiling: ceiling, isDone: phase == 2)
        }
    }
}

func forEachImage(_ verdict: (_ path: String, _ floor: Int, _ ceiling: Int, _ phase: Int) -> String) {
    while let line = readLine() {
        let words = line.split(separator: " ")
        let numbers = words.dropFirst().compactMap { Int($0) }
        guard words.count == 4, numbers.count == 3 else { fail("This line names no image: \(line)") }
        say(verdict(String(words[0]), numbers[0], numbers[1], numbers[2]).replacingOccurrences(of: "\n", with: " "))
    }
}
