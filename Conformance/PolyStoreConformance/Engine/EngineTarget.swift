import PolyStoreBackend
import PolyStoreKeyValue

/// The ordered engine under test, as its author hands it in.
///
///     let engine = EngineTarget(name: "mine", features: [.persistence, .fullDurability]) { place in
///         try EngineHandle.shared("mine:\(place.path)", isReadOnly: false) { try MyEngine(place.path) }
///     }
public struct EngineTarget: Sendable, CustomStringConvertible {
    public let name: String
    /// What ``EngineTraits/features`` must be.
    public let features: Set<Capabilities.Feature>
    /// Whether the engine is a ``TransactionalEngine``.
    public let isTransactional: Bool
    let open: @Sendable (ConformancePlace) throws -> EngineHandle
    let setWritesFail: (@Sendable (any OrderedEngine, Bool) throws -> Void)?
    let teardown: @Sendable (ConformancePlace) throws -> Void

    /// - Parameters:
    ///   - open: Opens the engine of a place, or makes it. Called again with the same place to open the same engine, while it is open too.
    ///   - setWritesFail: Makes the writes of an open engine fail as they do on a full disk (`true`), and succeed again (`false`). Without it the
    ///     cases about failed writes are skipped.
    ///   - teardown: Removes what an engine of the place has left elsewhere. Called after each case for each place that the case used.
    public init(
        name: String, features: Set<Capabilities.Feature>, isTransactional: Bool = false,
        open: @escaping @Sendable (ConformancePlace) throws -> EngineHandle,
        setWritesFail: (@Sendable (any OrderedEngine, Bool) throws -> Void)? = nil,
        teardown: @escaping @Sendable (ConformancePlace) throws -> Void = { _ in }
    ) {
        self.name = name
        self.features = features
        self.isTransactional = isTransactional
        self.open = open
        self.setWritesFail = setWritesFail
        self.teardown = teardown
    }

    public var description: String { name }
}
