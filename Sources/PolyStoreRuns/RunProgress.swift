/// The progress of a ``Run``, with a description for a person.
public protocol RunProgress: Sendable, CustomStringConvertible {
    /// The completed fraction of the work, from 0 to 1; `nil` if the amount of work is unknown.
    var fractionCompleted: Double? { get }
}
