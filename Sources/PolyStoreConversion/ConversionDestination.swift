import PolyStoreBackend

/// The store that a conversion creates: its location is locked, and the store is marked as incomplete until the end.
///
/// Beside a target in a file or folder is a file `NAME.conversion` while the conversion runs or is interrupted. The process that converts has a lock on it. Whether a target is
/// incomplete does not depend on this file: the store itself belongs to a configuration that only conversions open.
final class ConversionDestination {
    let configuration: StoreConfiguration
    let location: String
    let logger: any StoreLogger
    private var remoteLock: (any AnyObject & Sendable)?
    private var descriptor: Int32?
    /// A Boolean value that indicates whether an earlier conversion to this location did not end.
    private let wasInterrupted: Bool

    private static let lockSuffix = ".conversion"
    private var lockPath: StorePath { StorePath(path: location + Self.lockSuffix) }
    /// A Boolean value that indicates whether the target is a file or a folder.
    private var isFile: Bool { configuration.isShared && configuration.remote == nil }

    /// Locks the location.
    /// - Throws: `busy` if another conversion writes to it, `io` if there is a store or anything else.
    init(_ configuration: StoreConfiguration, _ logger: any StoreLogger) throws {
        var configuration = configuration
        (configuration.isReadOnly, configuration.resetsOnFailure, configuration.resetsOnModelMismatch) = (false, false, false)
        self.configuration = configuration
        self.logger = logger
        location = configuration.location
        let isFile = configuration.isShared && configuration.remote == nil
        let lockPath = StorePath(path: configuration.location + Self.lockSuffix)
        wasInterrupted = isFile ? try lockPath.kind() != .absent : true
        if isFile, !wasInterrupted, try configuration.exists() { throw Self.taken(location) }
        if isFile {
            do { descriptor = try lockPath.openLocked(mode: 0o600) } catch let error as StoreError where error.code == .busy {
                throw ConversionTarget.busyError(location)
            }
            // The conversion before may have ended between the look and the lock.
            if try !wasInterrupted && configuration.exists() {
                unlock(removing: false)
                throw Self.taken(location)
            }
        } else if let remote = configuration.remote as? any ConversionLocking {
            remoteLock = try remote.lockConversion()
        }
    }

    deinit { unlock(removing: false) }

    private static func taken(_ location: String) -> StoreError {
        StoreError(
            .io, "\(location) exists already, and a conversion does not overwrite it. Choose another target, or delete it first.",
            location: location)
    }

    /// Opens the incomplete target of an earlier conversion, or creates a target.
    /// - Parameter conversion: What the target has of the source.
    /// - Throws: `io` if there is a complete store or anything else; `conflict` for the target of a conversion with another schema.
    func open(_ schema: ResolvedSchema, _ configurationName: String?, _ conversion: ConversionTarget) throws -> any StorageBackend {
        var marked = configuration
        marked.conversion = conversion
        let existed = try configuration.exists()
        let name = configuration.isShared ? ConversionTarget.configurationName(for: configurationName) : configurationName
        do { return try marked.open(schema: schema, configurationName: name, logger: logger) } catch let error as StoreError {
            switch error.code {
            case .differentStoreAtURL where !ConversionTarget.isIncomplete(error.storedConfiguration):
                unlock(removing: true)
                throw Self.taken(location)
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

    /// Deletes an incomplete target.
    func erase() throws {
        try configuration.erase()
    }

    /// Ends the conversion to a complete target, and makes its directory entries durable.
    func finish() throws {
        if isFile { try StorePath(path: location).flushFolder() }
        unlock(removing: true)
        if isFile { try StorePath(path: location).flushFolder() }
    }

    /// - Parameter removing: Whether the file with the lock is removed. It stays beside an incomplete target.
    private func unlock(removing: Bool) {
        remoteLock = nil
        guard let descriptor else { return }
        self.descriptor = nil
        if removing { try? lockPath.remove() }
        StorePath.closeLocked(descriptor)
    }
}
