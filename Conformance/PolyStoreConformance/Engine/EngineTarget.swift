import PolyStoreBackend
import PolyStoreKeyValue

/// An ordered engine under test, as specified by its author.
///
///     let engine = EngineTarget(name: "mine", features: [.persistence, .fullDurability]) { location in
///         try EngineHandle.shared("mine:\(location.path)", isReadOnly: false) { try MyEngine(location.path) }
///     }
public struct EngineTarget: Sendable, CustomStringConvertible {
    /// The name of the engine.
    public let name: String
    /// The expected value of `EngineTraits.features`.
    public let features: Set<Capabilities.Feature>
    /// A Boolean value that indicates whether the engine is a `TransactionalEngine`.
    public let isTransactional: Bool
    let open: @Sendable (ConformanceLocation) throws -> EngineHandle
    let setWritesFail: (@Sendable (any OrderedEngine, Bool) throws -> Void)?
    let teardown: @Sendable (ConformanceLocation) throws -> Void

    /// - Parameters:
    ///   - name: The name of the engine in results.
    ///   - features: The features that the traits of the engine contain.
    ///   - isTransactional: Whether the engine is a `TransactionalEngine`.
    ///   - open: Opens or creates the engine at a path. Called again with the same path to open the same engine, also while it is open.
    ///   - setWritesFail: Makes the writes of an open engine fail as on a full disk (`true`), or succeed again (`false`). Without it, the cases about failed
    ///     writes are skipped.
    ///   - teardown: Removes data that an engine has left elsewhere. Called after each case for each path that the case used.
    public init(
        name: String, features: Set<Capabilities.Feature>, isTransactional: Bool = false,
        open: @escaping @Sendable (ConformanceLocation) throws -> EngineHandle,
        setWritesFail: (@Sendable (any OrderedEngine, Bool) throws -> Void)? = nil,
        teardown: @escaping @Sendable (ConformanceLocation) throws -> Void = { _ in }
    ) {
        self.name = name
        self.features = features
        self.isTransactional = isTransactional
        self.open = open
        self.setWritesFail = setWritesFail
        self.teardown = teardown
    }

    /// The name.
    public var description: String { name }
}
