import Foundation
import PolyStoreBackend

/// The progress of a run: an import, an export, a migration or maintenance of a store.
package protocol RunProgress: Sendable, CustomStringConvertible {
    /// The completed fraction of the work, from 0 to 1; `nil` if the amount of work is unknown.
    var fractionCompleted: Double? { get }
}
