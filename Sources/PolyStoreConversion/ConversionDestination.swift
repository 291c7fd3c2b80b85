import PolyStoreBackend
import PolyStorePlatform

/// The store that a conversion creates: its location is locked, and the store is marked as incomplete until the end.
///
/// Beside a target in a file or folder is a ``ConversionLockFile`` while the conversion runs or is interrupted. Whether a target is incomplete does not depend on this file: the store
/// itself belongs to a configuration that only conversions open.
final class ConversionDestination {
    /// The target is a store that is complete.
    struct Complete: Error {}

    let configuration: StoreConfiguration
    let location: String
    let logger: any StoreLogger
    /// The lock of a target in a file or folder.
    private let lockFile: ConversionLockFile?
    private var remoteLock: (any AnyObject & Sendable)?
    /// A Boolean value that indicates whether there was nothing before this conversion opened the target.
    private var isCreated = false

    /// Locks the location.
    /// - Throws: `busy` if another conversion writes to it, `io` if there is a store or anything else, or no folder for it.
    init(_ configuration: StoreConfiguration, _ logger: any StoreLogger) throws {
        var configuration = configuration
        (configuration.isReadOnly, configuration.resetsOnFailure, configuration.resetsOnModelMismatch) = (false, false, false)
        self.configuration = configuration
        self.logger = logger
        location = configuration.location
        guard configuration.isShared, configuration.remote == nil else {
            lockFile = nil
            remoteLock = try (configuration.remote as? any ConversionLocking)?.lockConversion()
            return
        }
        try configuration.prepareFolder()
        if try !ConversionLockFile.exists(beside: location) && configuration.exists() { throw Self.taken(location) }
        let lockFile = try ConversionLockFile(beside: location)
        self.lockFile = lockFile
        // The conversion before may have ended between the look and the lock, or was killed before it created anything.
        if try !lockFile.hasBegun && configuration.exists() { throw taken() }
    }

    deinit { unlock(removing: false) }

    private static func taken(_ location: String) -> StoreError {
        StoreError(
            .io, "\(location) exists already, and a conversion does not overwrite it. Choose another target, or delete it first.",
            location: location)
    }

    /// Releases a location that has a complete store or anything else, and returns the error.
    func taken() -> StoreError {
        unlock(removing: true)
        return Self.taken(location)
    }

    /// A Boolean value that indicates whether an earlier conversion to this location has not removed its lock file, which it does at last.
    var hasLockFileOfEarlierConversion: Bool { lockFile?.hasBegun ?? false }

    /// Opens the incomplete target of an earlier conversion, or creates a target.
    /// - Parameter conversion: What the target has of the source.
    /// - Throws: ``Complete`` if there is a complete store; `io` for anything else; `conflict` for the target of a conversion with another schema.
    func open(_ schema: ResolvedSchema, _ configurationName: String?, _ conversion: ConversionTarget) throws -> any StorageBackend {
        var marked = configuration
        marked.conversion = conversion
        let existed = try configuration.exists()
        isCreated = !existed
        let name = configuration.isShared ? ConversionTarget.configurationName(for: configurationName) : configurationName
        do {
            if !existed { try lockFile?.begin() }
            return try marked.open(schema: schema, configurationName: name, logger: logger)
        } catch let error as StoreError {
            switch error.code {
            case .differentStoreAtURL where !ConversionTarget.isIncomplete(error.storedConfiguration): throw Complete()
            case .notAStore where existed: throw Self.taken(location)
            case .migrationRequired, .differentStoreAtURL: throw Self.other(location)
            default:
                if try !configuration.exists() { unlock(removing: true) }
                throw error
            }
        }
    }

    /// Returns the error of a target that another conversion has begun.
    static func other(_ location: String) -> StoreError {
        StoreError(
            .conflict,
            "\(location) is the incomplete target of a conversion of another store, or of another version of this one. Start over to replace it, or choose another target.",
            location: location)
    }

    /// Deletes an incomplete target, which is closed.
    /// - Throws: `io` if another conversion without a lock has completed it meanwhile.
    func erase() throws {
        guard let remote = configuration.remote as? any ConversionLocking else { return try configuration.erase() }
        try remote.eraseIncomplete()
    }

    /// Deletes the target that was opened and closed, if this conversion has created it.
    /// - Returns: Whether nothing is left of it.
    func withdraw() -> Bool {
        guard isCreated else { return true }
        if configuration.isShared { try? configuration.erase() }
        let isGone = (try? configuration.exists()) == false
        unlock(removing: true)
        return isGone
    }

    /// Ends the conversion to a complete target, and makes its directory entries durable.
    func finish() throws {
        if lockFile != nil { try flushFolder() }
        unlock(removing: true)
        // If the file comes back after a power failure, the next conversion finds the complete target.
        if lockFile != nil { try? flushFolder() }
    }

    /// Flushes the directory entries. A folder that this process may not read cannot be flushed.
    private func flushFolder() throws {
        do { try StorePath(path: location).flushFolder() } catch let error as StoreError where error.engineCode == Int(EACCES) {}
    }

    /// - Parameter removing: Whether the file with the lock is removed. It stays beside an incomplete target.
    private func unlock(removing: Bool) {
        remoteLock = nil
        lockFile?.unlock(removing: removing)
    }
}
