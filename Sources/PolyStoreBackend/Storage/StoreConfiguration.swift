/// The configuration of a store: engine, location and options. Backends add static factories, for example
/// `.sqlite(file: "company.sqlite")`.
public struct StoreConfiguration: Sendable {
    /// The name of the engine, as in store URLs: `sqlite`, `memory`.
    public var engine: String
    /// The location of the store: an absolute path, or a name for a store without a file. Configurations with equal engines and locations refer to the same
    /// store. Errors and log messages name the store by its location; see ``StoreError/location``.
    public var location: String
    /// A Boolean value that indicates whether configurations with equal locations refer to the same store; `false` for a store that is discarded with its
    /// stack.
    public var isShared: Bool
    /// A Boolean value that indicates whether the store is opened read-only.
    public var isReadOnly = false
    /// See ``OpenRequest/opensEngineForWriting``.
    package var opensEngineForWriting = false
    /// The values that the store takes from the source of a conversion; nil for an ordinary opening.
    package var conversion: ConversionTarget?
    /// A Boolean value that indicates whether a store with a different schema is deleted and recreated. Its data is lost. The default is `false`.
    public var resetsOnModelMismatch = false
    /// A Boolean value that indicates whether the files of a store that is damaged, foreign or of another version are deleted and the store is recreated. Its
    /// data is lost. The default is `false`.
    public var resetsOnFailure = false
    /// The durability of commits whose transaction does not specify one.
    public var durability: Durability = .full
    /// The time that reads may be behind the newest commit of a store on a server with replicas; `nil`, the default, for none. Commits of the stack and those that it has
    /// seen are always shown; see ``ReadFreshness``.
    public var maximumStaleness: Duration?

    /// The paths of every file and folder of the store, including side files. Empty for a store without files, and if the backend does not provide them.
    public let files: [String]

    private var createsFolder = false
    /// Access to a store that is not a file; nil for a store of files or in memory.
    package let remote: (any RemoteStore)?
    private var secrets: [StoreSecret] = []
    private let eraseFiles: (@Sendable () throws -> Void)?
    private let relocate: (@Sendable (String) -> StoreConfiguration)?
    private let open: @Sendable (OpenRequest) throws -> any StorageBackend

    /// Creates a configuration.
    /// - Parameters:
    ///   - engine: The name of the engine; see ``engine``.
    ///   - location: The location of the store; see ``location``.
    ///   - isShared: See ``isShared``.
    ///   - files: See ``files``.
    ///   - erase: Deletes the data of the closed store and nothing else. If omitted, all of `files` are deleted; a store that others can open, with neither
    ///     `erase` nor `files`, cannot be erased.
    ///   - relocate: Returns the configuration of a store with the same options at another path, for stores with the feature `copying`. If omitted, a rehearsal
    ///     performs only the first step of a migration.
    ///   - open: Opens or creates the store. Called on the caller's thread; may block.
    public init(
        engine: String, location: String, isShared: Bool = true, files: [String] = [],
        erase: (@Sendable () throws -> Void)? = nil, relocate: (@Sendable (String) -> StoreConfiguration)? = nil,
        open: @escaping @Sendable (OpenRequest) throws -> any StorageBackend
    ) {
        self.files = files
        remote = nil
        eraseFiles = erase
        self.relocate = relocate
        self.engine = engine
        self.location = location
        self.isShared = isShared
        self.open = open
    }

    /// Creates the configuration of a store that is not a file, for example on a server.
    /// - Parameters:
    ///   - engine: The name of the engine; see ``engine``.
    ///   - location: The location of the store, without passwords; see ``location`` and ``StoreURL/serverLocation(defaultHost:defaultPort:namedBy:)``.
    ///   - isShared: See ``isShared``.
    ///   - remote: Access to the store, in place of that of the file system.
    ///   - open: Opens or creates the store. Called on the caller's thread; may block.
    public init(
        engine: String, location: String, isShared: Bool = true, remote: any RemoteStore,
        open: @escaping @Sendable (OpenRequest) throws -> any StorageBackend
    ) {
        self.remote = remote
        files = []
        eraseFiles = { try remote.erase() }
        relocate = nil
        self.engine = engine
        self.location = location
        self.isShared = isShared
        self.open = open
    }

    /// Returns the configuration with secrets that are removed from the errors of opening the store and from the messages that it logs.
    func hiding(_ secrets: [StoreSecret]) -> StoreConfiguration { with { $0.secrets += secrets } }

    /// Opens the store.
    ///
    /// - Parameters:
    ///   - schema: The schema of the store: the entities of the configuration.
    ///   - configurationName: The name of the configuration; nil for the default one.
    ///   - logger: The logger that receives the messages of the store.
    ///   - keepsInterruptedMigration: See ``OpenRequest/keepsInterruptedMigration``.
    public func open(
        schema: ResolvedSchema, configurationName: String?, logger: any StoreLogger, keepsInterruptedMigration: Bool = false
    ) throws -> any StorageBackend {
        if conversion == nil, ConversionTarget.isIncomplete(configurationName) { throw ConversionTarget.incompleteError(location) }
        do {
            return try openChecked(
                schema, configurationName, secrets.isEmpty ? logger : RedactingLogger(inner: logger, secrets: secrets),
                keepsInterruptedMigration: keepsInterruptedMigration)
        } catch let error as StoreError where conversion == nil && ConversionTarget.isIncomplete(error.storedConfiguration) {
            throw ConversionTarget.incompleteError(location)
        } catch let error as StoreError { throw error.redacted(secrets) }
    }

    private func openChecked(
        _ schema: ResolvedSchema, _ configurationName: String?, _ logger: any StoreLogger, keepsInterruptedMigration: Bool
    ) throws -> any StorageBackend {
        var request = OpenRequest(
            schema: schema, configurationName: configurationName, isReadOnly: isReadOnly, resetsOnModelMismatch: resetsOnModelMismatch,
            logger: logger)
        request.opensEngineForWriting = opensEngineForWriting
        request.conversion = conversion
        request.keepsInterruptedMigration = keepsInterruptedMigration
        try createFolderIfAsked()
        do { return try open(request) } catch let error as StoreError where error.code == .io && !isReadOnly && isFolderMissing {
            throw folderMissing(error)
        } catch let error as StoreError where resetsOnFailure && Self.isCuredByReset(error.code) {
            try checkErasable()
            logger.write(.warning, "\(location) cannot be opened and is deleted, as asked: \(error)")
            try erase()
            return try open(request)
        }
    }

    private func createFolderIfAsked() throws {
        if createsFolder && !isReadOnly && remote == nil { try StorePath(path: location).createFolder() }
    }

    /// Creates the missing folder of a new store, as opening the store does.
    /// - Throws: `io` if the configuration does not ask for it, or the folder cannot be created.
    package func prepareFolder() throws {
        try createFolderIfAsked()
        if isFolderMissing { throw folderMissing(nil) }
    }

    private func folderMissing(_ error: StoreError?) -> StoreError {
        StoreError(
            .io,
            "The store \(location) cannot be created: its folder does not exist. Create the folder, or open the store with .creatingFolder().",
            location: location, engineCode: error?.engineCode ?? 0, underlying: error.flatMap { $0.underlying ?? $0.message })
    }

    /// A Boolean value that indicates whether the location is a path whose folder does not exist.
    private var isFolderMissing: Bool {
        guard remote == nil, location.hasPrefix("/"), let cut = location.lastIndex(of: "/"), cut != location.startIndex else {
            return false
        }
        return (try? StorePath(path: String(location[..<cut])).kind()) == .absent
    }

    private static func isCuredByReset(_ code: StoreError.Code) -> Bool {
        [.corrupt, .notAStore, .incompatibleSchema, .migrationRequired, .differentStoreAtURL].contains(code)
    }

    /// Checks that the store can be erased.
    /// - Throws: `unsupported` if the backend neither lists the files of the store nor erases them, `readOnly` if the store is opened read-only.
    package func checkErasable() throws {
        guard !isReadOnly else {
            throw StoreError(.readOnly, "The store \(location) was opened for reading only, and is not erased.", location: location)
        }
        guard !isShared || !files.isEmpty || eraseFiles != nil else {
            throw StoreError(
                .unsupported, "The backend \(engine) does not name the files of its stores. Delete those of \(location) by hand.",
                location: location)
        }
    }

    /// Returns whether the store exists, by the backend for a store that is not a file, and by the file system otherwise. Does not open the store. A store that is discarded with
    /// its stack does not exist before it is opened.
    /// - Throws: `io` if it cannot be determined, and the errors of the backend.
    public func exists() throws -> Bool {
        do {
            if let remote { return try remote.exists() }
        } catch let error as StoreError { throw error.redacted(secrets) }
        return try isShared && StorePath(path: location).kind() != .absent
    }

    /// Returns the configuration of a copy of the store at another path; `nil` if the backend does not provide it.
    package func relocated(to location: String) -> StoreConfiguration? { relocate?(location) }

    /// Deletes every file of the store, which must be closed.
    /// - Throws: `io` if a file cannot be deleted.
    package func erase() throws {
        if let eraseFiles {
            do { try eraseFiles() } catch let error as StoreError { throw error.redacted(secrets) }
        } else {
            for file in files { try StorePath(path: file).remove() }
        }
        if !files.isEmpty { StorePath(path: location).removeLeftovers() }
    }

    /// Returns the configuration with another value of ``isReadOnly``. This method and the following ones are for a configuration that is written in one
    /// expression: `.sqlite(file: "company.sqlite").readOnly()`.
    public func readOnly(_ value: Bool = true) -> StoreConfiguration { with { $0.isReadOnly = value } }
    /// Returns the configuration with another value of ``resetsOnModelMismatch``.
    public func resettingOnModelMismatch(_ value: Bool = true) -> StoreConfiguration { with { $0.resetsOnModelMismatch = value } }
    /// Returns the configuration with the option to create a missing folder when the store is opened.
    public func creatingFolder(_ value: Bool = true) -> StoreConfiguration { with { $0.createsFolder = value } }
    /// Returns the configuration with another value of ``resetsOnFailure``.
    public func resettingOnFailure(_ value: Bool = true) -> StoreConfiguration { with { $0.resetsOnFailure = value } }
    /// Returns the configuration with another value of ``durability-swift.property``.
    public func durability(_ value: Durability) -> StoreConfiguration { with { $0.durability = value } }

    private func with(_ change: (inout StoreConfiguration) -> Void) -> StoreConfiguration {
        var copy = self
        change(&copy)
        return copy
    }

    /// The URL of the store: `engine:location`, or the location if it begins with the name of the engine.
    public var url: String { location.hasPrefix("\(engine):") ? location : "\(engine):\(location)" }
}

extension StoreConfiguration: CustomStringConvertible {
    /// The URL of the store.
    public var description: String { url }
}

/// The parameters that a backend receives when a store is opened.
public struct OpenRequest: Sendable {
    /// The entities of the store.
    public let schema: ResolvedSchema
    /// The name of the configuration; `nil` for the default configuration.
    public let configurationName: String?
    /// A Boolean value that indicates whether the store is opened read-only.
    public let isReadOnly: Bool
    /// A Boolean value that indicates whether a store with a different schema is deleted and recreated.
    public let resetsOnModelMismatch: Bool
    /// The logger for messages of the backend.
    public let logger: any StoreLogger
    /// A Boolean value that indicates whether the store is opened to resume an interrupted migration: the backend then keeps what the migration has written
    /// until ``StorageBackend/beginMigration(_:)`` determines whether it continues.
    public var keepsInterruptedMigration = false
    /// A Boolean value that indicates whether an engine that cannot open a store read-only opens it for writing for a read-only request. Nothing of the store is written.
    package var opensEngineForWriting = false
    /// See ``StoreConfiguration/conversion``.
    package var conversion: ConversionTarget?

    /// Creates a request.
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
