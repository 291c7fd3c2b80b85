/// The progress of a check or a copy of a store.
public struct MaintenanceProgress: Sendable, Hashable {
    /// The current activity: the name of an entity, an index or a link table, or `pages`.
    public var activity: String
    /// The number of records, index entries or pages that are done.
    public var completed: Int
    /// The expected number of them; nil if it is unknown.
    public var total: Int?

    public init(activity: String, completed: Int = 0, total: Int? = nil) {
        (self.activity, self.completed, self.total) = (activity, completed, total)
    }

    /// The completed fraction of the work, from 0 to 1; nil if the amount of work is unknown.
    public var fractionCompleted: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, max(0, Double(completed) / Double(total))) : 1
    }
}

extension MaintenanceProgress: CustomStringConvertible {
    /// `Person: 12000 of 40000`.
    public var description: String { total.map { "\(activity): \(completed) of \($0)" } ?? "\(activity): \(completed)" }
}

/// Receives the progress of a check or a copy of a store, often, on the thread that called the backend. An error that it throws ends the operation.
public typealias MaintenanceReport = (MaintenanceProgress) throws -> Void
