import ConformanceTargets
import Foundation
import PolyStoreConformance
import TestSupport
import Testing

/// Compares random cases with a naive model. `POLYSTORE_ORACLE_CASES` sets their number and `POLYSTORE_ORACLE_FIRST` the first seed.
///
/// Memory, LMDB and LevelDB share the record layer, so in the commit ring SQLite and LMDB run all cases, and the other two a quarter of them.
@Suite struct OracleConformance {
    @Test(arguments: Targets.all)
    func resultsEqualTheModel(_ target: ConformanceTarget) async throws {
        let first = TestEnvironment.number("POLYSTORE_ORACLE_FIRST") ?? 1
        let all = TestEnvironment.number("POLYSTORE_ORACLE_CASES") ?? 200
        let runsAll = Ring.current == .thorough || [Targets.sqlite.name, Targets.lmdb.name].contains(target.name)
        let count = runsAll ? all : max(1, all / 4)
        for seed in first..<first + count { try await Oracle.run(seed: UInt64(seed), on: target) }
        print("oracle \(target.name): \(count) cases")
    }

    /// The same with full-text indexes and searches; `POLYSTORE_SEARCH_ORACLE_CASES` sets the number of cases.
    @Test(arguments: Targets.all)
    func searchesEqualTheModel(_ target: ConformanceTarget) async throws {
        let first = TestEnvironment.number("POLYSTORE_ORACLE_FIRST") ?? 1
        let all = TestEnvironment.number("POLYSTORE_SEARCH_ORACLE_CASES") ?? 40
        let count = Ring.current == .thorough || target.name == Targets.sqlite.name ? all : max(1, all / 2)
        for seed in first..<first + count { try await Oracle.runSearches(seed: UInt64(seed), on: target) }
        print("search oracle \(target.name): \(count) cases")
    }

    /// An oracle that detects nothing proves nothing. It must detect every fault except false claims of persistence, hangs and rare faults.
    @Test(arguments: DefectiveBackend.all.filter { !$0.target.capabilities.contains(.persistence) && !$0.hangs && !$0.isRare })
    func defectsAreFound(_ defective: DefectiveBackend) async throws {
        for seed in 1...300 {
            do {
                try await Oracle.run(seed: UInt64(seed), on: defective.target)
            } catch let failure as ConformanceFailure {
                #expect(failure.expected != nil && failure.found != nil, "\(failure)")
                return
            }
        }
        Issue.record("300 cases pass on a store that \(defective)")
    }
}
