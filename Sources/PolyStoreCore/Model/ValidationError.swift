import PolyStoreBackend

/// An error for ``Model/validate()`` and ``Model/validateForDelete()`` to throw. It becomes a violation in the error of the commit, together with those of all
/// other objects. Other errors become violations too, with their descriptions.
public struct ValidationError: Error, Sendable, Hashable {
    /// A single validation failure.
    struct Failure: Sendable, Hashable {
        let attribute: String?
        let message: String
    }

    private(set) var failures: [Failure]

    /// Creates an error.
    /// - Parameters:
    ///   - message: The end of a sentence that begins with the attribute or the object: "is after the end".
    ///   - attribute: The stored name of the attribute; `nil` if the error concerns the whole object.
    public init(_ message: String, attribute: String? = nil) { failures = [Failure(attribute: attribute, message: message)] }

    /// Combines several errors.
    public init(_ errors: [ValidationError]) { failures = errors.flatMap(\.failures) }
}
