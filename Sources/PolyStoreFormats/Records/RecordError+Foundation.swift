import Foundation

extension RecordError: LocalizedError {
    /// The position, the field and the reason.
    public var errorDescription: String? { description }
}
