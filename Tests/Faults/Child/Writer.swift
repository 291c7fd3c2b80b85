import EngineTestSupport
import Foundation
import PolyStoreBackend

/// Commits up to a number, and records the acknowledgements:
/// `B n` before a commit, `A n full` or `A n relaxed` after its acknowledgement, `E n error` if it failed, `O error` if opening failed, `W what` if a read
/// returned a wrong result, `C` after a compaction, `D` at the end.
struct Writer {
    let engine: String
    let path: String
    let last: Int
    var leavesOpen = false
    var resets = false
    var migrates = false
    /// A Boolean value that indicates whether the store is compacted after every fifth commit.
    var compacts = false
    /// A Boolean value that indicates whether the store is opened after every third commit with the other schema: without the full-text indexes, then with them.
    var reindexes = false
    let marks = Marks()
    /// The number of failures after which the writer assumes a permanent fault and stops.
    private static let mostFailures = 12

    func run() {
        var store: Store?
        var truth = Truth()
        var acknowledged = 0
        var failures = 0
        var isRetry = false
        while truth.number < last, failures < Self.mostFailures {
            if store == nil {
                do {
                    let opened = try openStore(engine, path, isSearched: !reindexes || truth.number / 3 % 2 == 0)
                    store = opened
                    marks.put("R")
                    truth = try Checker.read(opened, floor: acknowledged, ceiling: max(truth.number + 1, acknowledged))
                } catch let error as Checker.Wrong {
                    return marks.put("W \(error.description)")
                } catch {
                    marks.put("O \(summary(error))")
                    failures += 1
                    try? store?.backend.close()
                    store = nil
                    continue
                }
            }
            guard let opened = store else { return }
            let number = truth.number + 1
            marks.put("B \(number)")
            do {
                truth = try Truth.commit(opened, truth)
                acknowledged = number
                marks.put("A \(number) \(Truth.durability(number).rawValue)")
                isRetry = false
                if compacts, number % 5 == 0 { compact(opened) }
            } catch {
                marks.put("E \(number) \(summary(error))")
                failures += 1
                // Reads keep working: they return correct results or errors.
                do {
                    let found = try Checker.read(opened, floor: acknowledged, ceiling: number)
                    if !isRetry { truth = found }
                } catch let error as Checker.Wrong {
                    return marks.put("W \(error.description)")
                } catch {
                    marks.put("E read \(summary(error))")
                }
                // First retry in the open store, then after reopening it.
                if isRetry {
                    try? opened.backend.close()
                    store = nil
                }
                isRetry.toggle()
                continue
            }
            if number % 37 == 0 || reindexes && number % 3 == 0 {
                do { try opened.backend.close() } catch { marks.put("E close \(summary(error))") }
                store = nil
            }
        }
        if leavesOpen { kill(getpid(), SIGKILL) }
        do { try store?.backend.close() } catch { marks.put("E close \(summary(error))") }
        if resets { reset() }
        if migrates { Migrating.run(engine, path, marks) }
        marks.put("D")
    }

    /// Compacts the store. An error leaves it as it is.
    private func compact(_ store: Store) {
        do {
            try store.backend.compact()
            marks.put("C")
        } catch { marks.put("E compact \(summary(error))") }
    }

    /// Opens with a later schema, which resets the store, and commits an object. Marks `Z` before and `Y` after the acknowledgement.
    private func reset() {
        marks.put("Z")
        for _ in 0..<4 {
            do {
                let store = try Races.openLater(engine, path, resets: true)
                defer { try? store.backend.close() }
                // A commit that reports an error may still have been written.
                if try store.ids("Later").isEmpty { try Races.write(store, 1) }
                return marks.put("Y")
            } catch {
                marks.put("E reset \(summary(error))")
            }
        }
    }
}
