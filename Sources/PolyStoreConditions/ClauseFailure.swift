import PolyStoreBackend

/// The error that makes a clause invalid, in storage of its own: most clauses have none, and they are copied often.
package indirect enum ClauseFailure: Sendable, Hashable {
    case error(StoreError)

    /// Creates the failure of a clause; nil without an error.
    package init?(_ error: StoreError?) {
        guard let error else { return nil }
        self = .error(error)
    }

    /// The error, which the fetch throws.
    package var error: StoreError {
        switch self {
        case .error(let error): error
        }
    }
}
