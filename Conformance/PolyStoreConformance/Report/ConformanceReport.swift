import PolyStoreBackend

/// The claims of several backends and their results in every case.
///
///     let report = await ConformanceReport.run([mine, other])
///     print(report.text)  // or .markdown
///     exit(report.failures.isEmpty ? 0 : 1)
public struct ConformanceReport: Sendable {
    /// The result of a case on a backend.
    public enum Outcome: Sendable, Hashable {
        /// The case passed.
        case passed
        /// The case failed, with the message.
        case failed(String)
        /// The case does not apply, with the reason.
        case skipped(String)
    }

    /// A case on a backend.
    public struct Entry: Sendable, Hashable {
        /// ``ConformanceTarget/name``.
        public let target: String
        /// The ``ConformanceCase/id``, or `claims` for the comparison of claimed with declared features.
        public let caseID: String
        /// The result.
        public let outcome: Outcome

        /// The first part of the id.
        public var area: String { String(caseID.prefix { $0 != "." }) }
    }

    /// The backends, in the given order.
    public let targets: [ConformanceTarget]
    /// The results of all cases on all backends, in the order in which they ran.
    public private(set) var entries: [Entry] = []
    /// All features that a backend claims or a case requires.
    public let features: [Capabilities.Feature]
    /// The durabilities of each backend, by name.
    public private(set) var durabilities: [String: Set<Durability>] = [:]

    /// The failed entries. A run is successful if there are none.
    public var failures: [Entry] { entries.filter { if case .failed = $0.outcome { true } else { false } } }

    /// Runs all cases on each backend in turn.
    /// - Parameters:
    ///   - targets: The backends to test.
    ///   - cases: The cases to run; by default all.
    ///   - timeLimit: The time limit of each case on a machine of normal speed; see ``ConformanceCase/run(_:timeLimit:)``.
    ///   - progress: Receives the name of each backend before its cases run.
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

    /// Opens a store and compares its features with the declared ones.
    private mutating func claims(of target: ConformanceTarget) -> Outcome {
        do {
            let claimed = try target.claims()
            durabilities[target.name] = claimed.durabilities
            let (more, less) = (claimed.features.subtracting(target.capabilities), target.capabilities.subtracting(claimed.features))
            guard more.isEmpty, less.isEmpty else {
                return .failed("claims \(Self.list(more)) more and \(Self.list(less)) less than its author says")
            }
            if !target.keepsLocalFiles, try target.storesFiles() {
                return .failed("keeps files at its path, which its author denies; the cases about files are skipped")
            }
            return .passed
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
