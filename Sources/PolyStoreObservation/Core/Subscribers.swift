import PolyStoreKernel

/// The subscribers of a list or an object in the order of their addition, as long as their owners are alive.
///
/// Callbacks add and remove subscribers while others are called. Each addition has a number, so the subscribers of a change are those up to a number, without
/// those that were removed since. A subscriber that is added again has another number.
final class Subscribers<Subscriber> {
    /// A subscriber with its number.
    final class Entry {
        fileprivate private(set) weak var owner: AnyObject?
        /// A Boolean value that indicates whether the subscriber was removed, also if it is being called.
        fileprivate var isRemoved = false
        let number: Int
        let subscriber: Subscriber

        fileprivate init(_ owner: AnyObject, _ number: Int, _ subscriber: Subscriber) {
            (self.owner, self.number, self.subscriber) = (owner, number, subscriber)
        }
    }

    private var entries: [Entry] = []
    let numbers: SubscriberNumbers

    /// - Parameter numbers: The numbers of other subscribers of the same changes.
    init(_ numbers: SubscriberNumbers = SubscriberNumbers()) { self.numbers = numbers }

    /// The owner of the oldest subscriber.
    var firstOwner: AnyObject? { entries.first?.owner }

    func contains(_ owner: AnyObject) -> Bool { entries.contains { $0.owner === owner } }

    /// Adds a subscriber, which replaces the previous one of the owner. The owner is held weakly.
    func add(_ owner: AnyObject, _ subscriber: Subscriber) {
        remove(owner)
        numbers.last += 1
        entries.append(Entry(owner, numbers.last, subscriber))
    }

    func remove(_ owner: AnyObject) {
        for entry in entries where entry.owner === owner { entry.isRemoved = true }
        entries.removeAll { $0.isRemoved || $0.owner == nil }
    }

    /// Returns the first subscriber with a greater number.
    func next(after number: Int) -> Entry? { entries.first { $0.number > number && $0.owner != nil } }

    /// Calls a closure with each subscriber whose number is in a range, except those that the calls remove.
    func forEach(after first: Int = 0, through last: Int, _ body: (Subscriber) -> Void) {
        for entry in entries where entry.number > first && entry.number <= last && !entry.isRemoved && entry.owner != nil {
            body(entry.subscriber)
        }
    }
}

/// The numbers of subscribers. The observers of a monitor and the monitor itself share them.
final class SubscriberNumbers {
    /// The number of the last addition.
    fileprivate(set) var last = 0
}
