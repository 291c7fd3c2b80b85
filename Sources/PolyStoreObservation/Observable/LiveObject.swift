public import Observation
import PolyStoreBackend
import PolyStoreKernel

/// An object of the main actor's view for user interfaces. A SwiftUI view that reads it is evaluated again when the object's values change.
///
///     @State private var jane: LiveObject<Person>
///
///     var body: some View { Text(jane.snapshot?.name ?? "") }
///
/// Conforms to the standard library's `Observable`. It retains the view context.
@MainActor
public final class LiveObject<T: Model>: Observable {
    /// The id of the object.
    public let objectID: ObjectID<T>
    private let registrar = ObservationRegistrar()
    private let view: ViewContext
    private let followed: FollowedObject<T, ObjectSnapshot<T>>
    private var current: ObjectSnapshot<T>?

    /// Creates an observation of an object.
    /// - Throws: Errors of reading the object.
    public init(_ view: ViewContext, _ id: ObjectID<T>) throws {
        objectID = id
        self.view = view
        followed = try FollowedObject(snapshotsOf: id, view)
        current = followed.value
        followed.subscribers.add(self) { [weak self] change in MainActor.assumeIsolated { self?.show(change.new) } }
    }

    /// The object's values; `nil` if it is not in the store.
    public var snapshot: ObjectSnapshot<T>? {
        registrar.access(self, keyPath: \.snapshot)
        return current
    }

    /// The view's object; `nil` if it is not in the store.
    public var object: T? {
        registrar.access(self, keyPath: \.snapshot)
        return followed.value == nil ? nil : try? view.fetchExisting(objectID)
    }

    private func show(_ snapshot: ObjectSnapshot<T>?) { registrar.withMutation(of: self, keyPath: \.snapshot) { current = snapshot } }
}
