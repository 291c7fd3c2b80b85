/// Who waits on its own thread for a transaction.
@usableFromInline
package enum WaitingCaller {
    /// A thread that blocks nothing else. Its transaction may wait for later ones to join its commit group.
    case thread
    /// An actor, or a thread that others wait for. Its transaction is committed before the next one starts.
    case actor
    /// The main actor. The views show the commit when the call returns.
    case mainActor

    @usableFromInline
    package init(_ isolation: (any Actor)?) { self = isolation == nil ? .thread : isolation === MainActor.shared ? .mainActor : .actor }
}
