/// A resource owned by one thread at a time, for which other threads wait; a node of the ``WaitForGraph``.
protocol AwaitedResource: AnyObject, Sendable {
    /// The owning thread, or 0 if it is unknown.
    var owner: UInt { get }
}
