import PolyStoreBackend
import PolyStoreCore

/// The cost of the answer of a pane.
package struct PaneCost: Sendable {
    /// The milliseconds that the answer took, without those for its plans.
    package var milliseconds: Double
    /// The number of rows and index entries that were examined; nil if they were not requested.
    package var rowsExamined: Int?
    /// The access paths that were used, without repetitions: `index City_population (order)`, `scan`.
    package var accesses: [String]
    /// A Boolean value that indicates whether all rows of an entity were read.
    package var isScan: Bool
    /// The plans in full, as text.
    package var plans: [String]

    package init(milliseconds: Double, plans: [QueryPlan]? = nil) {
        self.milliseconds = milliseconds
        rowsExamined = plans?.reduce(0) { $0 + ($1.allRowsExamined ?? 0) }
        accesses = []
        for plan in plans ?? [] where !accesses.contains(plan.access) { accesses.append(plan.access) }
        isScan = plans?.contains(where: \.isScan) ?? false
        self.plans = plans?.map(\.description) ?? []
    }

    package static func milliseconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) * 1000 + Double(duration.components.attoseconds) / 1e15
    }
}

extension Context {
    /// Reads the answer of a pane, and returns it with what it cost. With the plans, each request is executed twice.
    func pane<R>(wantsPlans: Bool, _ body: () throws -> R) throws -> (answer: R, cost: PaneCost) {
        let start = ContinuousClock.now
        guard wantsPlans else { return (try body(), PaneCost(milliseconds: PaneCost.milliseconds(ContinuousClock.now - start))) }
        var time = Duration.zero
        let (answer, plans) = try explaining(elapsed: &time, body)
        return (answer, PaneCost(milliseconds: PaneCost.milliseconds(time), plans: plans))
    }
}
