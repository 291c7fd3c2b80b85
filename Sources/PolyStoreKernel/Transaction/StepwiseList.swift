import Dispatch
import PolyStoreBackend
import PolyStoreRuns
import Synchronization

/// The stepwise transactions that have not been released.
final class StepwiseList: Sendable {
    private let references = Protected<[WeakReference<StepwiseTransaction>]>([])

    func add(_ transaction: StepwiseTransaction) {
        references.withLock { references in
            references.removeAll { $0.object == nil }
            references.append(WeakReference(transaction))
        }
    }

    var living: [StepwiseTransaction] { references.withLock { $0.compactMap(\.object) } }
}
