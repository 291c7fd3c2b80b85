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
    public var snapshot: ObjectSnapshot<T>? { followed.value }
    /// The view's object; `nil` if it is not in the store.
    public var object: T? { snapshot == nil ? nil : try? view.fetchExisting(objectID) }
    private let view: ViewContext
    private let followed: FollowedObject<T, ObjectSnapshot<T>>

    init(_ view: ViewContext, _ id: ObjectID<T>) throws {
        self.view = view
        objectID = id
        followed = try FollowedObject(snapshotsOf: id, view)
    }

    /// Calls a closure after each change, as long as the owner is alive. A second closure of an owner replaces the first.
    /// - Parameters:
    ///   - owner: The owner, held weakly.
    ///   - notifyInitial: A Boolean value that indicates whether the closure is also called immediately.
    ///   - callback: Receives the publisher with the latest snapshot. It may do what a callback of a ``ListMonitor`` may do.
    public func addObserver(
        _ owner: AnyObject, notifyInitial: Bool = false, _ callback: @escaping @MainActor (ObjectPublisher<T>) -> Void
    ) {
        followed.subscribers.add(owner) { [weak self] _ in MainActor.assumeIsolated { if let self { callback(self) } } }
        if notifyInitial { view.reporting { callback(self) } }
    }

    /// Removes the closure of an owner.
    public func removeObserver(_ owner: AnyObject) { followed.subscribers.remove(owner) }
}
