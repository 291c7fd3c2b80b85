import PolyStoreBackend
import PolyStoreKernel
import PolyStoreRuns

/// The progress of a migration.
public struct MigrationProgress: Sendable, Hashable {
    /// The current step, from 1; 0 before the first.
    public internal(set) var step = 0
    /// The number of steps.
    public internal(set) var stepCount = 0
    /// The version that the current step migrates to.
    public internal(set) var destinationVersion = ""
    /// The current activity: `Person`, `checking`, `building indexes`.
    public internal(set) var activity = ""
    /// The number of objects and links that the current step has read, including those that an interrupted attempt at the step has migrated.
    public internal(set) var rows = 0
    /// The number of objects that the current step reads; 0 if it reads none.
    public internal(set) var totalRows = 0
    /// The number of objects per second, since the step began.
    public internal(set) var rowsPerSecond: Double = 0
    /// The estimated remaining time of the step; `nil` if it is unknown.
    public internal(set) var timeLeft: Duration?
    /// The completed fraction of the migration, from 0 to 1.
    var fraction: Double = 0
    /// A Boolean value that indicates whether the migration has ended.
    public internal(set) var isFinished = false
}

extension MigrationProgress: RunProgress {
    /// The completed fraction of the migration, from 0 to 1. The last value of a migration that succeeds is 1.
    public var fractionCompleted: Double? { fraction }

    /// `Step 1 of 2, Person: 12000 of 40000 objects, 35000 objects/s, 1 s left`.
    public var description: String {
        if isFinished { return "Finished" }
        var parts: [String] = []
        if stepCount > 1 { parts.append("Step \(step) of \(stepCount)") }
        if totalRows > 0 {
            parts.append("\(activity): \(rows) of \(totalRows) objects")
        } else if !activity.isEmpty {
            parts.append(activity)
        }
        if rowsPerSecond >= 1, rowsPerSecond < 1e15 { parts.append("\(Int64(rowsPerSecond)) objects/s") }
        if let timeLeft { parts.append("\(timeLeft.components.seconds) s left") }
        if parts.isEmpty { return "Waiting" }
        return parts.joined(separator: ", ")
    }
}
