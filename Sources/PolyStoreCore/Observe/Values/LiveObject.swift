public import Observation
import PolyStoreBackend

/// An object of the main actor's view for user interfaces: a view that reads it is evaluated again when the object's values change.
///
///     @State private var jane: LiveObject<Person>
///
///     var body: some View { Text(jane.snapshot?.name ?? "") }
///
/// Conforms to the standard library's `Observable`. It keeps the view context alive.
@MainActor
public final class LiveObject<T: Model>: Observable {
    public let objectID: ObjectID<T>
    private let registrar = ObservationRegistrar()
    private let publisher: ObjectPublisher<T>
    private var current: ObjectSnapshot<T>?

    /// - Throws: what reading the object throws.
    public init(_ view: ViewContext, _ id: ObjectID<T>) throws {
        objectID = id
        publisher = try ObjectPublisher(view, id)
        current = publisher.snapshot
        publisher.addObserver(self) { [weak self] publisher in self?.show(publisher.snapshot) }
    }

    /// The object's values; nil if the store does not contain it.
    public var snapshot: ObjectSnapshot<T>? {
        registrar.access(self, keyPath: \.snapshot)
        return current
    }

    /// The view's object; nil if the store does not contain it.
    public var object: T? {
        registrar.access(self, keyPath: \.snapshot)
        return publisher.object
    }

    private func show(_ snapshot: ObjectSnapshot<T>?) { registrar.withMutation(of: self, keyPath: \.snapshot) { current = snapshot } }
}
