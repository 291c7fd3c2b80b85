/// An engine that compacts its store by replacing the file. It implements ``compact(replacing:)`` instead of ``OrderedEngine/compact()``.
package protocol FileReplacingEngine: OrderedEngine {
    /// Compacts the store. Called with the write lock of this process held.
    /// - Parameter replacing: Must be called for the replacement itself, with the name of the new file for ``EngineHandle/shared(_:isReadOnly:make:)`` and a
    ///   closure that replaces the file. It rethrows the closure's error, after which the store has the old file.
    func compact(replacing: (_ identity: String, _ replace: () throws -> Void) throws -> Void) throws
}
