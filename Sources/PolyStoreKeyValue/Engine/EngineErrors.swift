import PolyStoreBackend

extension StoreError {
    /// Creates a store error from an error that an engine has thrown. A `StoreError` is unchanged; any other error becomes `full` or `io`.
    /// - Parameters:
    ///   - what: The operation that failed: "Writing", "Building indexes".
    ///   - location: The path or URL of the store.
    init(engine error: any Error, _ what: String, location: String) {
        switch error {
        case let error as StoreError: self = error
        case is UnfinishedMigration: self = EngineHandle.isBeingMigrated(location)
        case is EngineOutOfRoom:
            self.init(
                .full, "\(what) failed: the engine of the store \(location) has no room left. Free disk space and try again.",
                location: location)
        default:
            self.init(
                .io, "\(what) failed: the engine of the store \(location) reported an error. Close the store and open it again.",
                location: location,
                underlying: "\(error)")
        }
    }
}

/// Damage that makes reading entries unsafe. Verification reports only these findings.
public struct EngineDamage: Error {
    /// A sentence for each finding.
    public let findings: [String]

    /// - Parameter findings: A sentence for each finding.
    public init(_ findings: [String]) { self.findings = findings }
}

/// Thrown by an ``EngineWriter`` that needs ``TransactionalEngine/makeRoom()``. The record layer then ends the transaction, makes room, and repeats all writes
/// in a new one.
public struct EngineOutOfRoom: Error {
    /// Creates the error.
    public init() {}
}
