import EngineTestSupport
import Foundation
import PolyStoreBackend

/// Compares a store with the expected contents.
enum Checker {
    /// A wrong answer of a store.
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

    /// Returns the number of the last commit in a store, according to the store.
    static func head(_ store: Store, _ transaction: any ReadTransaction) throws -> Int {
        guard let values = try transaction.values(try store.entity("Head"), 1) else { return 0 }
        guard case .integer(let number)? = values["number"] else { throw Wrong("the head has no number") }
        return Int(number)
    }

    /// Reads all of a store in one snapshot.
    /// - Parameters:
    ///   - floor: The lowest commit number that the store may have.
    ///   - ceiling: The number of the last commit that was begun.
    /// - Throws: `Wrong` for a wrong answer, and the store's errors.
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

    /// Opens an image, compares it, and continues to write to it.
    static func verdict(_ engine: String, _ path: String, floor: Int, ceiling: Int) -> String {
        let store: Store
        do { store = try openStore(engine, path) } catch { return "unopenable \(summary(error))" }
        defer { try? store.backend.close() }
        do {
            let truth = try read(store, floor: floor, ceiling: ceiling)
            if try store.waitForSearchIndexes() { _ = try read(store, floor: truth.number, ceiling: truth.number) }
            let findings = try store.backend.verify()
            try expect(findings.isEmpty, "verify says \(findings.prefix(2))")
            // The opened store accepts commits and keeps them.
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
            return "unopenable reading: \(summary(error))"
        }
    }

    /// Compares an image taken during a reset for another schema: it has all of the old store or all of the new one, never a mixture.
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
            return "unopenable \(summary(error))"
        }
    }

    /// Checks the images listed on the standard input. A line has a path, the floor, the ceiling, and the phase of a reset or a migration: 0 not begun, 1 reset
    /// begun, 2 reset acknowledged, 3 migration begun, 4 migration acknowledged. Prints one line for each.
    static func run(_ engine: String) {
        forEachImage { path, floor, ceiling, phase in
            switch phase {
            case 0: verdict(engine, path, floor: floor, ceiling: ceiling)
            case 1, 2: verdictOfReset(engine, path, floor: floor, ceiling: ceiling, isDone: phase == 2)
            default: Migrating.verdict(engine, path, floor: floor, ceiling: ceiling, isDone: phase == 4)
            }
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
