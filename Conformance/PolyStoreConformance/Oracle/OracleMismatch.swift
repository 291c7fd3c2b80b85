import PolyStoreBackend

/// A difference between a store and the model.
struct OracleMismatch: Error {
    /// The number of the step.
    let step: Int
    let what: String
    let expected: String
    let found: String
}
