public import Foundation
import PolyStoreBackend

extension ValidationError: LocalizedError {
    /// The description of all failures.
    public var errorDescription: String? { description }
}

extension StoreError {
    /// Wraps an error that is not a `StoreError`.
    init(wrapping error: any Error) {
        if let error = error as? StoreError { self = error } else { self.init(.misuse, "\(error)", underlying: "\(error)") }
    }
}
