import PolyStoreBackend

/// The results of statements that were sent without waiting for them.
final class PostedResponse {
    /// The results of the statements, without those that were skipped after an error.
    private(set) var rows: [Rows] = []
    /// The first error.
    private(set) var error: StoreError?
    /// Called when the response has been read completely.
    var onEnd: () -> Void = {}

    /// Adds a part of the response.
    func add(_ answer: Result<Rows?, StoreError>, _ part: Connection.Expected) {
        switch answer {
        case .success(let found): if let found { rows.append(found) }
        case .failure(let failure): if error == nil { error = failure }
        }
        if case .sync = part { onEnd() }
    }
}
