/// The results of change sets that were applied with one call; see ``WriteTransaction/apply(_:committing:)``.
public struct AppliedChangeSets: Sendable {
    /// The error of each change set, in order; nil for one that was applied.
    public var errors: [StoreError?]
    /// The new version; nil if the changes were not committed.
    public var version: UInt64?

    /// Creates the results.
    public init(errors: [StoreError?], version: UInt64? = nil) {
        self.errors = errors
        self.version = version
    }

    /// Returns the results if they can be those of a number of change sets.
    /// - Throws: `io` if a result is missing, or if the changes are committed although one was refused. The outcome of the commit is then unknown.
    package func checked(_ count: Int) throws -> AppliedChangeSets {
        if errors.count == count, version == nil || errors.allSatisfy({ $0 == nil }) { return self }
        throw StoreError(
            .io,
            "The backend returned \(errors.count) results for \(count) change sets\(version == nil ? "" : ", and committed them"). One result for each is required, and a commit only if none was refused.",
            recovery: version == nil ? .permanent : .commitOutcomeUnknown)
    }
}

extension WriteTransaction {
    public func apply(_ sets: [ChangeSet], committing durability: Durability?) throws -> AppliedChangeSets {
        var results = AppliedChangeSets(errors: [])
        for set in sets {
            do {
                try apply(set)
                results.errors.append(nil)
            } catch let error as StoreError where error.refusesChanges { results.errors.append(error) }
        }
        if let durability, results.errors.allSatisfy({ $0 == nil }) { results.version = try commit(durability) }
        return results
    }
}

extension StoreError {
    /// A Boolean value that indicates whether the error concerns a change set alone, so that the write transaction can continue without it.
    package var refusesChanges: Bool { [.constraint, .notFound, .misuse, .invalidValue].contains(code) }
}
