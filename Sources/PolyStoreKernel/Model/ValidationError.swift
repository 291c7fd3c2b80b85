import PolyStoreBackend

/// An error for ``Model/validate()`` and ``Model/validateForDelete()`` to throw. It becomes a violation in the error of the commit, together with those of all
/// other objects. Other errors become violations too, with their descriptions.
public struct ValidationError: Error, Sendable, Hashable {
    /// One failure of a validation.
    public struct Failure: Sendable, Hashable, CustomStringConvertible {
        /// The stored name of the attribute; `nil` if the failure concerns the whole object.
        public let attribute: String?
        /// The end of a sentence that begins with the attribute or the object: "is after the end".
        public let message: String

        /// The failure as a sentence without a period: `isLocked is locked`, or `The object is incomplete`.
        public var description: String { "\(attribute ?? "The object") \(message)" }
    }

    /// The failures, in the order in which they were found.
    public let failures: [Failure]

    /// Creates an error.
    /// - Parameters:
    ///   - message: The end of a sentence that begins with the attribute or the object: "is after the end".
    ///   - attribute: The stored name of the attribute; `nil` if the error concerns the whole object.
    public init(_ message: String, attribute: String? = nil) { failures = [Failure(attribute: attribute, message: message)] }

    /// Combines several errors.
    public init(_ errors: [ValidationError]) { failures = errors.flatMap(\.failures) }
}

extension ValidationError: CustomStringConvertible {
    /// All failures, separated by semicolons.
    public var description: String { failures.map(\.description).joined(separator: "; ") }
}
