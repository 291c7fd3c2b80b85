import Foundation
import PolyStoreBackend
import PolyStoreKernel

/// An observation of one property of an object. It lasts until it is released or ``cancel()`` is called.
public final class PropertyObservation<T: Model> {
    private var monitor: ObjectMonitor<T>?
    private var observer: (any ObjectObserver<T>)?

    fileprivate init(_ monitor: ObjectMonitor<T>, _ observer: any ObjectObserver<T>) {
        self.monitor = monitor
        self.observer = observer
        monitor.addObserver(observer)
    }

    /// Ends the observation.
    public func cancel() {
        monitor = nil
        observer = nil
    }
}

private final class PropertyObserver<T: Model, V>: ObjectObserver {
    private let name: String
    private let path: KeyPath<T, V>
    private var value: V?
    private let body: (T, ObservedChange<V>) -> Void

    init(_ name: String, _ path: KeyPath<T, V>, _ value: V?, _ body: @escaping (T, ObservedChange<V>) -> Void) {
        self.name = name
        self.path = path
        self.value = value
        self.body = body
    }

    func objectMonitor(_ monitor: ObjectMonitor<T>, didUpdateObject object: T, changedKeys: Set<String>) {
        guard changedKeys.contains(name) else { return }
        let new = object[keyPath: path]
        let change = ObservedChange(oldValue: value, newValue: new)
        value = new
        body(object, change)
    }
}

extension Model {
    /// Calls a closure after each commit that changes a property of this object.
    ///
    ///     let observation = try jane.observe(\.age) { jane, change in print(change.oldValue, change.newValue) }
    ///
    /// The object must belong to a context that can be monitored; see ``MonitoringContext``.
    /// - Returns: The observation. Keep a reference to it.
    /// - Throws: `misuse` for an object of another context, and for a key path that is not a stored property; `notFound` for a deleted object.
    public func observe<V>(_ path: KeyPath<Self, V>, _ body: @escaping (Self, ObservedChange<V>) -> Void) throws -> PropertyObservation<
        Self
    > {
        guard let name = Self._$properties.knownName(path) else {
            throw StoreError(
                .misuse, "\(path) is not a stored property of \(Self._$entityName), so its changes cannot be observed.",
                entity: Self._$entityName)
        }
        guard _$state.context.movesToVersions else {
            throw StoreError(
                .misuse, "\(objectID) is an object of a context that never moves to another snapshot. Observe an object of the view.",
                entity: Self._$entityName)
        }
        let monitor = try _$state.context.monitor(of: objectID)
        return PropertyObservation(monitor, PropertyObserver(name, path, monitor.object?[keyPath: path], body))
    }

    /// Returns the context of the object, to fetch other objects in it.
    public func fetchSource() -> Context { _$state.context }
}

/// A change of an observed property.
public struct ObservedChange<V> {
    /// The previous value; `nil` for the first change of an object that had not been read.
    public let oldValue: V?
    /// The new value.
    public let newValue: V
}

extension ObservedChange: Sendable where V: Sendable {}
extension ObservedChange: Equatable where V: Equatable {}
