import PolyStoreKernel

/// The subscribers of a list or an object in the order of their addition, as long as their owners are alive.
///
/// Callbacks add and remove subscribers while others are called. Each addition has a number, so the subscribers of a change are those up to a number, without
/// those that were removed since. A subscriber that is added again has another number.
final class Subscribers<Subscriber> {
    private struct Entry {
        weak var owner: AnyObject?
        let number: Int
        let subscriber: Subscriber
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
        entries.append(Entry(owner: owner, number: numbers.last, subscriber: subscriber))
    }

    func remove(_ owner: AnyObject) { entries.removeAll { $0.owner == nil || $0.owner === owner } }

    /// Returns the first subscriber with a greater number.
    func next(after number: Int) -> (number: Int, subscriber: Subscriber)? {
        for entry in entries where entry.number > number && entry.owner != nil { return (entry.number, entry.subscriber) }
        return nil
    }

    /// Calls a closure with each subscriber whose number is in a range.
    func forEach(after number: Int = 0, through last: Int, _ body: (Subscriber) -> Void) {
        var number = number
        while let next = next(after: number), next.number <= last {
            number = next.number
            body(next.subscriber)
        }
    }
}

/// The numbers of subscribers. The observers of a monitor and the monitor itself share them.
final class SubscriberNumbers {
    /// The number of the last addition.
    fileprivate(set) var last = 0
}
