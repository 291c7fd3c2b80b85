public import PolyStoreRuns

/// The progress of a conversion or of a digest.
public struct ConversionProgress: Sendable, Hashable {
    /// An activity of a conversion.
    public enum Activity: String, Sendable, Hashable {
        /// It writes to the target.
        case copying
        /// It reads the target again.
        case verifying
    }

    /// The current activity.
    public var activity = Activity.copying
    /// The entity, the link table or the other part of the store that is read now.
    public var part = ""
    /// The number of objects that are copied, or verified.
    public var objects = 0
    /// The number of objects of the source.
    public var totalObjects = 0
    /// The size of what is copied or verified, in bytes of records, named values and log entries.
    public var bytes = 0

    public init() {}
}

extension ConversionProgress: RunProgress {
    public var fractionCompleted: Double? {
        guard totalObjects > 0 else { return nil }
        let share = min(1, Double(objects) / Double(totalObjects))
        return activity == .copying ? share * 0.7 : 0.7 + share * 0.3
    }

    /// `copying Person: 12000 of 40000 objects`.
    public var description: String { "\(activity.rawValue) \(part): \(objects) of \(totalObjects) objects" }
}
