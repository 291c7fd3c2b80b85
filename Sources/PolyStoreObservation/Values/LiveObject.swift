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
    private let publisher: ObjectPublisher<T>
    private var current: ObjectSnapshot<T>?

    /// Creates an observation of an object.
    /// - Throws: Errors of reading the object.
    public init(_ view: ViewContext, _ id: ObjectID<T>) throws {
        objectID = id
        publisher = try ObjectPublisher(view, id)
        current = publisher.snapshot
        publisher.addObserver(self) { [weak self] publisher in self?.show(publisher.snapshot) }
    }

    /// The object's values; `nil` if it is not in the store.
    public var snapshot: ObjectSnapshot<T>? {
        registrar.access(self, keyPath: \.snapshot)
        return current
    }

    /// The view's object; `nil` if it is not in the store.
    public var object: T? {
        registrar.access(self, keyPath: \.snapshot)
        return publisher.object
    }

    private func show(_ snapshot: ObjectSnapshot<T>?) { registrar.withMutation(of: self, keyPath: \.snapshot) { current = snapshot } }
}
