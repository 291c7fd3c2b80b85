import Foundation
import PolyStoreBackend

/// The progress of a ``Run``, with a description for a person.
public protocol RunProgress: Sendable, CustomStringConvertible {
    /// The completed fraction of the work, from 0 to 1; `nil` if the amount of work is unknown.
    var fractionCompleted: Double? { get }
}

/// A `Progress` with settable descriptions on every platform. Foundation on Linux has only getters.
package final class DescribedProgress: Progress, @unchecked Sendable {  // The texts are accessed under the lock only.
    private let texts: Protected<(description: String, detail: String)>

    /// - Parameter cancel: Called when the progress is cancelled, on a thread that Foundation chooses.
    init(_ description: String, cancel: @escaping @Sendable () -> Void) {
        texts = Protected((description, ""))
        super.init(parent: nil, userInfo: nil)
        isCancellable = true
        cancellationHandler = cancel
    }

    package override var localizedDescription: String! {
        get { texts.withLock { $0.description } }
        set { texts.withLock { $0.description = newValue ?? "" } }
    }

    package override var localizedAdditionalDescription: String! {
        get { texts.withLock { $0.detail } }
        set { texts.withLock { $0.detail = newValue ?? "" } }
    }
}
