import PolyStoreBackend

extension StoreError {
    /// Creates a store error from an error that an engine has thrown. A `StoreError` is unchanged; any other error becomes `full` or `io`.
    /// - Parameters:
    ///   - what: The operation that failed: "Writing", "Building indexes".
    ///   - place: The path or URL of the store.
    init(engine error: any Error, _ what: String, place: String) {
        switch error {
        case let error as StoreError: self = error
        case is UnfinishedMigration: self = EngineHandle.isBeingMigrated(place)
        case is EngineOutOfRoom:
            self.init(
                .full, "\(what) failed: the engine of the store \(place) has no room left. Free disk space and try again.", url: place)
        default:
            self.init(
                .io, "\(what) failed: the engine of the store \(place) reported an error. Close the store and open it again.", url: place,
                underlying: "\(error)")
        }
    }
}
