import PolyStoreBackend
import PolyStoreKernel

/// Publishes the latest snapshot of one object of the main actor's view.
///
///     let publisher = try stack.view.publishObject(jane)
///     publisher.addObserver(self) { publisher in
///         label.text = publisher.snapshot?.name ?? "deleted"
///     }
///
/// The snapshot changes when the view advances to a version with different values of the object. The publisher retains the view.
@MainActor
public final class ObjectPublisher<T: Model> {
    /// The id of the object.
    public let objectID: ObjectID<T>
    /// The object's values; `nil` if it is not in the store.
    public private(set) var snapshot: ObjectSnapshot<T>?
    /// The view's object; `nil` if it is not in the store.
    public var object: T? { snapshot == nil ? nil : try? view.fetchExisting(objectID) }
    private let view: ViewContext
    private var follower: ObjectFollower<T>?
    private let observers = PublisherObservers<ObjectPublisher<T>>()

    init(_ view: ViewContext, _ id: ObjectID<T>) throws {
        self.view = view
        objectID = id
        let relay = PublisherRelay<ObjectPublisher<T>>()
        let follower = try ObjectFollower(id, view) { snapshot in
            MainActor.assumeIsolated { relay.publisher?.publish(snapshot) }
        }
        self.follower = follower
        snapshot = follower.snapshot
        relay.publisher = self
    }

    /// Calls a closure after each change, as long as the owner is alive. A second closure of an owner replaces the first.
    /// - Parameters:
    ///   - owner: The owner, held weakly.
    ///   - notifyInitial: A Boolean value that indicates whether the closure is also called immediately.
    ///   - callback: Receives the publisher with the latest snapshot. It may do what a callback of a ``ListMonitor`` may do.
    public func addObserver(
        _ owner: AnyObject, notifyInitial: Bool = false, _ callback: @escaping @MainActor (ObjectPublisher<T>) -> Void
    ) {
        observers.add(owner, callback)
        if notifyInitial { view.reporting { callback(self) } }
    }

    /// Removes the closure of an owner.
    public func removeObserver(_ owner: AnyObject) { observers.remove(owner) }

    private func publish(_ snapshot: ObjectSnapshot<T>?) {
        self.snapshot = snapshot
        observers.notify(self)
    }
}
