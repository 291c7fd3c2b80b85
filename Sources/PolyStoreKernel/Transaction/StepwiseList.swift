import Dispatch
import PolyStoreBackend
import PolyStoreRuns
import Synchronization

/// The stepwise transactions that have not been released.
final class StepwiseList: Sendable {
    private let references = Protected<[WeakReference<StepwiseTransaction>]>([])

    func add(_ transaction: StepwiseTransaction) {
        // These references are kept until the lock is released: another thread may release its own meanwhile, and the deinit takes locks.
        let living = references.withLock { references in
            let living = references.compactMap(\.object)
            if living.count < references.count { references = living.map(WeakReference.init) }
            references.append(WeakReference(transaction))
            return living
        }
        withExtendedLifetime(living) {}
    }

    var living: [StepwiseTransaction] { references.withLock { $0.compactMap(\.object) } }
}
