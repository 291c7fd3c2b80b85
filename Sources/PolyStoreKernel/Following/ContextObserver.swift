import PolyStoreBackend

/// An observer of the contents of a context, such as a list or an object.
package protocol ContextObserver: AnyObject {
    /// The value that an object must have, before or after a change, to affect the observer; `nil` if any object can.
    var route: ObserverRoute? { get }
    /// The entities whose objects it reports; `nil` for all.
    var observedEntities: [Int32]? { get }
    /// Called before the context advances, while objects still have their old values. Called again if observers were added meanwhile.
    func contextWillMove(_ move: ContextMove)
    /// Called when the context shows the new snapshot, before any observer is notified. Applies the changes and keeps them for ``notify()``.
    func contextDidMove(_ move: ContextMove, _ context: Context)
    /// Called after all observers have applied the changes.
    func notify()
}

extension ContextObserver {
    package var route: ObserverRoute? { nil }
    package var observedEntities: [Int32]? { nil }

    package func contextWillMove(_ move: ContextMove) {}

    /// Restarts observation of a context with a new route or new entities.
    package func observeAgain(_ context: Context) {
        guard let observers = context.observers else { return }
        observers.remove(self)
        observers.add(self)
    }
}
