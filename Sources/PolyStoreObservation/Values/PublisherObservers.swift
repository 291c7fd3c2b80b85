import PolyStoreKernel

/// The closures that observe a publisher, each as long as its owner is alive.
@MainActor
final class PublisherObservers<Publisher> {
    private struct Observer {
        weak var owner: AnyObject?
        let number: Int
        let notify: @MainActor (Publisher) -> Void
    }

    private var observers: [Observer] = []
    private var lastNumber = 0

    init() {}

    /// Adds a closure, replacing the owner's previous one.
    func add(_ owner: AnyObject, _ notify: @escaping @MainActor (Publisher) -> Void) {
        remove(owner)
        lastNumber += 1
        observers.append(Observer(owner: owner, number: lastNumber, notify: notify))
    }

    func remove(_ owner: AnyObject) { observers.removeAll { $0.owner == nil || $0.owner === owner } }

    func notify(_ publisher: Publisher) {
        for observer in observers {
            // A closure that another observer has removed or replaced is not called.
            guard observer.owner != nil, observers.contains(where: { $0.number == observer.number }) else { continue }
            observer.notify(publisher)
        }
    }
}
