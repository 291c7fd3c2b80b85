/// A violated guarantee.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// The id of the case.
    public let caseID: String
    /// The checked condition and how it was violated.
    public let message: String
    /// The expected value; `nil` if the message is sufficient.
    public let expected: String?
    /// The actual value.
    public let found: String?

    init(caseID: String, message: String, expected: String? = nil, found: String? = nil) {
        self.caseID = caseID
        self.message = message
        self.expected = expected
        self.found = found
    }

    /// The case, the message and the values.
    public var description: String {
        guard let expected, let found else { return "\(caseID): \(message)" }
        return "\(caseID): \(message)\(message.isEmpty ? "" : ": ")expected \(expected), found \(found)"
    }
}
