import PolyStoreBackend

/// The properties of an engine that the record layer depends on.
public struct EngineTraits: Sendable, Hashable {
    /// The features that the engine provides: `Capabilities.Feature.persistence`, … The record layer adds its own.
    public var features: Set<Capabilities.Feature>
    /// The durability levels that the engine supports.
    public var durabilities: Set<Durability>
    /// A Boolean value that indicates whether records get their own checksums. Not needed if the bytes never leave the process.
    public var checksumsRecords: Bool
    /// A Boolean value that indicates whether a value from ``EngineSnapshot/get(_:)`` stays valid until the snapshot ends or is written to, instead of until
    /// the next `get`. Saves a copy.
    public var valuesStay: Bool
    /// The size in bytes above which values are split into pieces.
    public var maximumPieceSize: Int
    /// The maximum number of bytes of a transaction's keys and values. A larger transaction throws `full` before it writes.
    public var maximumTransactionSize: Int
    /// The number of records that one commit of an index build covers. Tests reduce it.
    package var recordsOfIndexCommit = 2000
    /// The time that a transaction waits for a migration, in milliseconds. Tests reduce it.
    package var migrationTimeout = Duration.seconds(10)

    /// Creates the traits of an engine.
    public init(
        features: Set<Capabilities.Feature>, durabilities: Set<Durability> = [.full, .relaxed], checksumsRecords: Bool = true,
        valuesStay: Bool = false, maximumPieceSize: Int = 65_536, maximumTransactionSize: Int = .max
    ) {
        self.features = features
        self.durabilities = durabilities
        self.checksumsRecords = checksumsRecords
        self.valuesStay = valuesStay
        self.maximumPieceSize = maximumPieceSize
        self.maximumTransactionSize = maximumTransactionSize
    }
}
