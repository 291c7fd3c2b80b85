import CLMDB
import PolyStoreBackend
import PolyStoreKeyValue
import PolyStorePlatform

/// An LMDB environment: a memory-mapped file that is read in place and never written through the map.
///
/// The engine implements what LMDB requires of its users. A process opens an environment once (``EngineHandle``). A write transaction stays on its thread.
/// Readers are not tied to threads (`MDB_NOTLS`) and are reused. The map grows while a gate blocks new transactions. Readers of terminated processes are
/// cleared. The file is checked before it is read (``LMDBFile``). After a failed flush the environment is replaced, and nothing is written until the last
/// committed state is known to be durable. Compaction replaces the file; readers of the old one keep its environment open.
final class LMDBEngine: TransactionalEngine, FileReplacingEngine, @unchecked Sendable {  // All mutable state is accessed under the lock.
    let location: String
    let traits: EngineTraits
    let options: LMDBOptions
    let opener: LMDBEnvironment
    /// The identity of the opened file; another file may have its path later.
    var identity: String
    /// The data file and the lock file. If the lock file is replaced, a process that opens the new one could write at the same time.
    var files: WatchedFiles
    /// The state of a file with several names when it was opened; nil for a file with one name. See ``LMDBOptions/readsHardLinkedFiles``.
    let stamp: StorePath.Stamp?
    /// The unnamed database, the only one.
    let database: MDB_dbi

    let gate = Lock()
    /// The environment; `nil` after LMDB has lost its map and the environment could not be reopened, which the next transaction tries again. Replaced only
    /// while no transaction runs, so a running transaction can use it without the lock.
    var environment: OpaquePointer?
    /// Incremented with each new environment.
    var generation = 0
    var mapSize = 0
    /// A Boolean value that indicates whether the last committed state is durable. Unknown for a file that other processes have written, and after a failed
    /// commit.
    var isFlushed: Bool
    /// The number of transactions that use the environment.
    var running = 0
    /// Environments of files that compaction replaced, by generation.
    var retired: [Int: RetiredEnvironment] = [:]
    /// A descriptor of the lock file with which compaction tested for other processes. Closing it would release LMDB's locks, so it is closed after the
    /// environment.
    var lockTest: Int32?
    /// A Boolean value that indicates whether the folder entry of a compacted file may not be durable.
    var isFolderUnflushed = false
    var isChanging = false
    /// The time until which new transactions wait for running ones, because the environment must be replaced; `nil` while it is usable.
    var replacement: Deadline?
    /// The number of readers with a snapshot.
    var reading = 0
    /// Idle readers, kept for reuse.
    var idle: [OpaquePointer] = []
    static let mostIdle = 16
    /// A Boolean value that indicates whether a write transaction was ended on the wrong thread, after which LMDB's lock cannot be released.
    var isWriterLost = false
    var mappedPages: LMDBMappedPages
    /// The descriptor of the migration lock; `nil` while this process does not hold it.
    var migrationLock: Int32?

    /// - Parameter expected: The identity of the file.
    /// - Throws: ``LMDBFile/Replaced`` if the path has another file.
    init(path: String, identity expected: String, options: LMDBOptions, isReadOnly: Bool) throws {
        location = path
        self.options = options
        var traits = EngineTraits(
            features: [.persistence, .multiProcess, .readOnlyOpen, .fullDurability, .copying, .compaction], valuesStay: true)
        traits.migrationTimeout = options.migrationTimeout
        self.traits = traits
        mappedPages = LMDBMappedPages(path: path)
        let file = LMDBFile(storePath: StorePath(path: path))
        let isUnlocked = try file.hasSeveralNames(isReadOnly: isReadOnly, options: options)
        stamp = isUnlocked ? try file.storePath.stamp() : nil
        opener = LMDBEnvironment(file: file, options: options, isReadOnly: isReadOnly, isUnlocked: isUnlocked)
        let opened = try opener.open(mapSize: options.mapSize, identity: expected)
        identity = expected
        do {
            files = isReadOnly ? WatchedFiles() : try WatchedFiles([path, path + "-lock"])
        } catch {
            mdb_env_close(opened.environment)
            throw error
        }
        (environment, database, isFlushed) = (opened.environment, opened.database, opened.isFlushed)
    }

    var commitFiles: [String] { [location] }

    var readSessions: ReadSessions? { gate.withLock { ReadSessions(active: reading, idle: idle.count, maximumIdle: Self.mostIdle) } }

    func checkFiles() throws { try gate.withLock { files }.check(location) }

    func close() {
        gate.withLock {
            dropIdle()
            closeEnvironment()
            for environment in retired.values { environment.close() }
            retired = [:]
        }
    }

    /// Checks every page of the file with plain reads, because LMDB may crash on a damaged page.
    func verify(reporting report: MaintenanceReport) throws -> [String] {
        var generation = 0
        let findings = try opener.file.findings(
            begin: {
                let reader = try beginReader()
                generation = reader.generation
                return reader.transaction
            }, end: { giveBack(reader: $0, generation: generation) }, reporting: report)
        if !findings.isEmpty { throw EngineDamage(findings) }
        return []
    }

    // MARK: Migrations and copies

    /// Takes a descriptor lock on a file beside the store. The lock is released when the process ends.
    func lockMigration() throws -> Bool {
        if gate.withLock({ migrationLock != nil }) { return false }
        do {
            let descriptor = try StorePath(path: migrationFile).openLocked(mode: options.fileMode)
            gate.withLock { migrationLock = descriptor }
            return true
        } catch let error as StoreError where error.code == .busy { return false }
    }

    func unlockMigration() {
        let descriptor = gate.withLock {
            defer { migrationLock = nil }
            return migrationLock
        }
        guard let descriptor else { return }
        LMDBFile.removeMigrationFile(migrationFile, descriptor)
        StorePath.closeLocked(descriptor)
    }

    private var migrationFile: String { LMDBFile.migrationFile(of: location) }

    /// Copies the pages of one snapshot, up to its last used page.
    ///
    /// LMDB writes them in one call, which can be cancelled only before it begins.
    func copy(to path: String, reporting report: MaintenanceReport) throws {
        try report(MaintenanceProgress(activity: "pages"))
        try LMDBFile(storePath: StorePath(path: path)).createCopy(mode: options.fileMode) { descriptor in
            while true {
                let entry = try enter(reader: false)
                let code = mdb_env_copyfd2(entry.environment, descriptor, UInt32(MDB_CP_COMPACT))
                leave(entry.generation)
                if code == MDB_SUCCESS { return }
                try recover(code, entry.generation, "Copying")
                ftruncate(descriptor, 0)
                lseek(descriptor, 0, SEEK_SET)
            }
        }
    }
}
