/// The closures that observe a publisher, each as long as its owner is alive.
@MainActor
final class PublisherObservers<Publisher> {
    private struct Observer {
        weak var owner: AnyObject?
        let notify: @MainActor (Publisher) -> Void
    }

    private var observers: [Observer] = []

    init() {}

    /// Adds a closure, replacing the owner's previous one.
    func add(_ owner: AnyObject, _ notify: @escaping @MainActor (Publisher) -> Void) {
        remove(owner)
        observers.append(Observer(owner: owner, notify: notify))
    }

    func remove(_ owner: AnyObject) { observers.removeAll { $0.owner == nil || $0.owner === owner } }

    func notify(_ publisher: Publisher) {
        for observer in observers {
            // A closure that another observer has removed is not called.
            guard let owner = observer.owner, observers.contains(where: { $0.owner === owner }) else { continue }
            observer.notify(publisher)
        }
    }
}
