import PolyStoreBackend

/// A backend under test, as specified by its author.
public struct ConformanceTarget: Sendable, CustomStringConvertible {
    /// The name of the backend.
    public let name: String
    /// The features that the backend must claim and support.
    public let capabilities: Set<Capabilities.Feature>
    /// A Boolean value that indicates whether a store detects changed bytes in its files.
    public let findsDamage: Bool
    /// A Boolean value that indicates whether a persistent store keeps its data in local files at its path.
    public let keepsLocalFiles: Bool
    let store: @Sendable (ConformanceLocation) -> StoreConfiguration
    let teardown: @Sendable (ConformanceLocation) throws -> Void
    let copyLocation: @Sendable (ConformanceLocation) throws -> String
    let failCommit: (@Sendable (ConformanceLocation, CommitFault) -> Void)?

    /// - Parameters:
    ///   - name: The name of the backend in results.
    ///   - capabilities: The features that the backend claims. A case that needs another feature is skipped.
    ///   - findsDamage: Whether a store detects changed bytes in its files. `false` for an engine without checksums.
    ///   - keepsLocalFiles: Whether a persistent store keeps its data in local files at its path. `false` for a store on a server: cases that put files at the
    ///     path, or read the files there, are skipped.
    ///   - store: Returns the configuration for a path. Called again with the same path to reopen the store.
    ///   - teardown: Removes data that a store has left elsewhere: on a server, or in other folders. Called after each case for each path that the case used,
    ///     when its stores are closed. Files at the path or beside it are removed in any case.
    ///   - copyLocation: Returns the location for `StorageBackend.copy(to:)` of a copy that `store` opens at a path. The default is the path.
    ///   - failCommit: Lets the next commit of the open store at a path fail. If omitted, the cases about such failures are skipped.
    public init(
        name: String, capabilities: Set<Capabilities.Feature>, findsDamage: Bool = true, keepsLocalFiles: Bool = true,
        store: @escaping @Sendable (ConformanceLocation) -> StoreConfiguration,
        teardown: @escaping @Sendable (ConformanceLocation) throws -> Void = { _ in },
        copyLocation: @escaping @Sendable (ConformanceLocation) throws -> String = { $0.path },
        failCommit: (@Sendable (ConformanceLocation, CommitFault) -> Void)? = nil
    ) {
        self.name = name
        self.capabilities = capabilities
        self.findsDamage = findsDamage
        self.keepsLocalFiles = keepsLocalFiles
        self.store = store
        self.teardown = teardown
        self.copyLocation = copyLocation
        self.failCommit = failCommit
    }

    /// The name.
    public var description: String { name }
}
