import PolyStoreBackend

/// What each of some backends claims, and how it fares in every case.
///
///     let report = await ConformanceReport.run([mine, other])
///     print(report.text)  // or .markdown
///     exit(report.failures.isEmpty ? 0 : 1)
public struct ConformanceReport: Sendable {
    /// How one case went on one backend.
    public enum Outcome: Sendable, Hashable {
        case passed
        case failed(String)
        /// It does not apply, and why.
        case skipped(String)
    }

    /// One case on one backend.
    public struct Entry: Sendable, Hashable {
        /// ``ConformanceTarget/name``.
        public let target: String
        /// ``ConformanceCase/id``. `claims` for the comparison of what a backend claims with what its author says.
        public let caseID: String
        public let outcome: Outcome

        /// The first part of the id.
        public var area: String { String(caseID.prefix { $0 != "." }) }
    }

    /// The backends, in the order given.
    public let targets: [ConformanceTarget]
    /// Every case on every backend, in the order in which they ran.
    public private(set) var entries: [Entry] = []
    /// What the cases look at: all features that a backend claims or a case needs.
    public let features: [Capabilities.Feature]
    /// What each backend, by its name, says of durabilities.
    public private(set) var durabilities: [String: Set<Durability>] = [:]

    /// The entries that failed. A run is good if there are none.
    public var failures: [Entry] { entries.filter { if case .failed = $0.outcome { true } else { false } } }

    /// Runs the cases one after another on each backend in turn.
    /// - Parameters:
    ///   - timeLimit: for each case, on a machine of the usual speed; see ``ConformanceCase/run(_:timeLimit:)``.
    ///   - progress: told the name of each backend before its cases run.
    public static func run(
        _ targets: [ConformanceTarget], cases: [ConformanceCase] = ConformanceCase.all, timeLimit: Duration = ConformanceCase.timeLimit,
        progress: @Sendable (String) -> Void = { _ in }
    ) async -> ConformanceReport {
        var report = ConformanceReport(targets, cases)
        for target in targets {
            progress(target.name)
            report.add(target, "claims", report.claims(of: target))
            for next in cases {
                if let reason = next.reasonToSkip(target) {
                    report.add(target, next.id, .skipped(reason))
                } else {
                    report.add(target, next.id, await outcome(of: next, on: target, within: timeLimit))
                }
            }
        }
        return report
    }

    private init(_ targets: [ConformanceTarget], _ cases: [ConformanceCase]) {
        self.targets = targets
        var features = Set(targets.flatMap(\.capabilities))
        for next in cases { features.formUnion(next.requires) }
        self.features = features.sorted()
    }

    private mutating func add(_ target: ConformanceTarget, _ id: String, _ outcome: Outcome) {
        entries.append(Entry(target: target.name, caseID: id, outcome: outcome))
    }

    /// Opens a store and compares.
    private mutating func claims(of target: ConformanceTarget) -> Outcome {
        do {
            let claimed = try target.claims()
            durabilities[target.name] = claimed.durabilities
            let (more, less) = (claimed.features.subtracting(target.capabilities), target.capabilities.subtracting(claimed.features))
            if more.isEmpty, less.isEmpty { return .passed }
            return .failed("claims \(Self.list(more)) more and \(Self.list(less)) less than its author says")
        } catch {
            return .failed("cannot be opened: \(error)")
        }
    }

    private static func list(_ features: Set<Capabilities.Feature>) -> String {
        features.isEmpty ? "nothing" : features.sorted().map(\.description).joined(separator: ", ")
    }

    private static func outcome(of next: ConformanceCase, on target: ConformanceTarget, within limit: Duration) async -> Outcome {
        do {
            try await next.run(target, timeLimit: limit)
            return .passed
        } catch {
            return .failed("\(error)")
        }
    }
}
