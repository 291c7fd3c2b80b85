/// A resource owned by one thread at a time, for which other threads wait; a node of the ``WaitForGraph``.
package protocol AwaitedResource: AnyObject, Sendable {
    /// The thread that owns the resource; 0 if no thread owns it, or if the thread is unknown.
    var owner: UInt { get }
}
