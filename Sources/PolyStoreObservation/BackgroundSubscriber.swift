import Dispatch
import PolyStoreBackend
import PolyStoreKernel

/// An observer of a stack off the main actor. All calls occur on the queue of a ``BackgroundObservation``.
protocol BackgroundSubscriber: AnyObject {
    /// Called once with the context to observe. An error ends the subscription.
    func start(_ context: RefreshableContext) throws
    /// Called once when the subscription ends, because it was cancelled, failed or the stack was released.
    func finish(_ error: (any Error)?)
}
