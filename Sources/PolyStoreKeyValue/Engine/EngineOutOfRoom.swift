/// Thrown by an ``EngineWriter`` that needs ``TransactionalEngine/makeRoom()``. The record layer then ends the transaction, makes room, and repeats all writes
/// in a new one.
public struct EngineOutOfRoom: Error {
    /// Creates the error.
    public init() {}
}
