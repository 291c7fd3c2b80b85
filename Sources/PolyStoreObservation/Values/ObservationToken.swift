import PolyStoreBackend
import PolyStoreKernel

/// Ends an observation when it is released.
final class ObservationToken: Sendable {
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}
