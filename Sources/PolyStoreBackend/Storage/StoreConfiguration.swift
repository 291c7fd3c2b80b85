/// How one store is to be opened: which engine, where, with what settings. Backends add static factories, so that a user writes
/// `.sqlite(file: "company.sqlite")`.
public struct StoreConfiguration: Sendable {
    /// The engine's name, as in store URLs: `sqlite`, `memory`.
    public var engine: String
    /// Where the store is: an absolute path, or a name for a store without a file. Two stores are the same if both are equal.
    public var location: String
    /// Whether two stores of one location are one. False for a store that lives and dies with its stack.
    public var isShared: Bool
    public var isReadOnly = false
    /// Deletes the store and starts anew where it was written for another model. Only ever on request: the data is gone.
    public var resetsOnModelMismatch = false
    /// What a commit survives unless its transaction says otherwise.
    public var durability: Durability = .full

    private let open: @Sendable (OpenRequest) throws -> any StorageBackend

    /// - Parameter open: opens or creates the store. Runs on the caller's thread; may block.
    public init(
        engine: String, location: String, isShared: Bool = true, open: @escaping @Sendable (OpenRequest) throws -> any StorageBackend
    ) {
        self.engine = engine
        self.location = location
        self.isShared = isShared
        self.open = open
    }

    /// Opens the store.
    public func open(schema: ResolvedSchema, configurationName: String?, logger: any StoreLogger) throws -> any StorageBackend {
        try open(
            OpenRequest(
                schema: schema, configurationName: configurationName, isReadOnly: isReadOnly, resetsOnModelMismatch: resetsOnModelMismatch,
                logger: logger))
    }

    public func readOnly(_ value: Bool = true) -> StoreConfiguration { with { $0.isReadOnly = value } }
    public func resettingOnModelMismatch(_ value: Bool = true) -> StoreConfiguration { with { $0.resetsOnModelMismatch = value } }
    public func durability(_ value: Durability) -> StoreConfiguration { with { $0.durability = value } }

    private func with(_ change: (inout StoreConfiguration) -> Void) -> StoreConfiguration {
        var copy = self
        change(&copy)
        return copy
    }

    /// `engine:location`.
    public var url: String { "\(engine):\(location)" }
}

/// What a backend is given when a store is opened.
public struct OpenRequest: Sendable {
    /// The entities that this store holds.
    public let schema: ResolvedSchema
    /// The configuration's name; nil is the default one.
    public let configurationName: String?
    public let isReadOnly: Bool
    public let resetsOnModelMismatch: Bool
    public let logger: any StoreLogger

    public init(
        schema: ResolvedSchema, configurationName: String? = nil, isReadOnly: Bool = false, resetsOnModelMismatch: Bool = false,
        logger: any StoreLogger = StandardErrorLogger()
    ) {
        self.schema = schema
        self.configurationName = configurationName
        self.isReadOnly = isReadOnly
        self.resetsOnModelMismatch = resetsOnModelMismatch
        self.logger = logger
    }
}
