import PolyStoreBackend
import SeededRandom

/// Compares a backend with a naive model: random schemas, changes and requests.
///
/// Everything is derived from a seed, so that a failure can be reproduced. A failing case is reduced before it is reported: the message contains the schema,
/// the remaining steps, the expected and the actual result.
///
///     for seed in 1...2000 { try await Oracle.run(seed: UInt64(seed), on: target) }
public enum Oracle {
    /// Runs the case of a seed in a separate scratch folder, which is removed afterwards.
    /// - Throws: ``ConformanceFailure``.
    public static func run(seed: UInt64, on target: ConformanceTarget) async throws {
        let run = try ConformanceRun(target, "oracle.seed-\(seed)")
        defer { try? run.cleanUp() }
        try Self.run(seed, run)
    }

    /// Runs the case of a seed with full-text indexes and searches in most requests.
    /// - Throws: ``ConformanceFailure``.
    public static func runSearches(seed: UInt64, on target: ConformanceTarget) async throws {
        let run = try ConformanceRun(target, "oracle.search-\(seed)")
        defer { try? run.cleanUp() }
        try Self.run(seed, run, isSearched: true)
    }

    static func run(_ seed: UInt64, _ run: ConformanceRun, name: String = "store", isSearched: Bool = false) throws {
        var random = SplitMix64(seed: seed)
        let schema = try OracleSchema.draw(&random, isSearched: isSearched)
        var draw = OracleDraw(random, schema, isPersistent: run.target.capabilities.contains(.persistence))
        let steps = draw.steps()
        var tries = OracleTries(run: run, schema: schema, name: name)
        guard let failure = tries.failure(of: steps) else { return }
        let (remaining, last) = tries.shrunk(steps, failure)
        let lines = remaining.enumerated().map { "  \($0.offset). \($0.element)\n" }.joined()
        throw ConformanceFailure(
            caseID: run.caseID,
            message: "seed \(seed), schema \(schema.inShort)\n\(lines)  at step \(last.step): \(last.what)", expected: last.expected,
            found: last.found)
    }
}

/// Runs steps on new stores.
private struct OracleTries {
    let run: ConformanceRun
    let schema: ResolvedSchema
    private let name: String
    private var count = 0
    /// The maximum number of runs, enough to reduce a case to a few steps.
    private static let most = 300

    init(run: ConformanceRun, schema: ResolvedSchema, name: String) {
        self.run = run
        self.schema = schema
        self.name = name
    }

    mutating func failure(of steps: [OracleStep]) -> OracleMismatch? {
        count += 1
        var runner: OracleRunner?
        do {
            let made = try OracleRunner(run.target, schema, run.location("\(name)-\(count)"))
            runner = made
            try made.run(steps)
            return nil
        } catch let mismatch as OracleMismatch {
            return mismatch
        } catch {
            return OracleMismatch(step: runner?.step ?? 0, what: "an error that should not have been", expected: "none", found: "\(error)")
        }
    }

    /// Removes steps, then edits, then parts of requests, while the case still fails.
    mutating func shrunk(_ steps: [OracleStep], _ failure: OracleMismatch) -> ([OracleStep], OracleMismatch) {
        var last = failure
        // Steps after the failure are irrelevant.
        var steps = Array(steps.prefix(failure.step + 1))
        if let again = self.failure(of: steps) { last = again }
        reduce(&steps, &last) { $0 }
        for index in steps.indices {
            guard case .apply(var edits) = steps[index] else { continue }
            let all = steps
            reduce(&edits, &last) { edits in
                var changed = all
                changed[index] = .apply(edits)
                return changed
            }
            steps[index] = .apply(edits)
        }
        for index in steps.indices { simplify(&steps, index, &last) }
        return (steps, last)
    }

    /// Simplifies a request as far as possible.
    private mutating func simplify(_ steps: inout [OracleStep], _ index: Int, _ last: inout OracleMismatch) {
        var isDone = false
        while !isDone {
            guard case .ask(let reader, let query) = steps[index] else { return }
            isDone = true
            for simpler in query.simpler where count < Self.most {
                var changed = steps
                changed[index] = .ask(reader, simpler)
                guard let mismatch = failure(of: changed) else { continue }
                (steps, last, isDone) = (changed, mismatch, false)
                break
            }
        }
    }

    /// Removes halves, quarters and so on, down to single elements.
    private mutating func reduce<T>(_ list: inout [T], _ last: inout OracleMismatch, _ steps: ([T]) -> [OracleStep]) {
        var size = max(list.count / 2, 1)
        while true {
            var start = 0
            var isReduced = false
            while start < list.count, count < Self.most {
                let shorter = Array(list[..<start] + list[min(start + size, list.count)...])
                if let mismatch = failure(of: steps(shorter)) {
                    (list, last, isReduced) = (shorter, mismatch, true)
                } else {
                    start += size
                }
            }
            if count >= Self.most || size == 1 && !isReduced { return }
            size = max(size / 2, 1)
        }
    }
}
