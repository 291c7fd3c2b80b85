import Foundation
import PolyStoreBackend
import PolyStoreKernel

/// A change of an observed property.
public struct ObservedChange<V> {
    /// The previous value; `nil` for the first change of an object that had not been read.
    public let oldValue: V?
    /// The new value.
    public let newValue: V
}

extension ObservedChange: Sendable where V: Sendable {}
extension ObservedChange: Equatable where V: Equatable {}
