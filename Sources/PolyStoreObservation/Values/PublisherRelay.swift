import PolyStoreBackend
import PolyStoreKernel

/// Connects a follower to its publisher, which is created after it.
@MainActor
final class PublisherRelay<Publisher: AnyObject> {
    weak var publisher: Publisher?

    init() {}
}
