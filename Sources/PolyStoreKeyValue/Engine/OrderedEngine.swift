import PolyStoreBackend

/// An ordered key-value engine: the minimum that a backend implements (tier A). About 150 lines; the record layer supplies everything else, from
/// read-your-writes to indexes and queries.
///
/// Keys are 1 to ``KeyWriter/longestKey`` bytes, ordered by `memcmp`. Values are slightly larger than ``EngineTraits/maximumPieceSize`` bytes at most.
///
/// An engine with its own write transactions also implements ``TransactionalEngine`` (tier B).
public protocol OrderedEngine: AnyObject, Sendable {
    /// The location of the store, for error messages.
    var location: String { get }
    /// The features and limits of the engine. They are constant.
    var traits: EngineTraits { get }
    /// Returns a snapshot of everything applied so far. Any number of snapshots can be open, on any thread.
    func snapshot() throws -> any EngineSnapshot
    /// Writes a batch atomically. When the call returns, the batch is visible to new snapshots and as durable as requested. Calls never overlap.
    /// - Throws: `full`, `io`. After an error that leaves the engine in an unknown state, every later call must throw.
    func apply(_ batch: WriteBatch, _ durability: Durability) throws
    /// Closes the engine. Called once, after the last snapshot has ended.
    func close()
    /// Checks that the engine's files are still at their original paths. Called before each commit. The default, for engines without files, does nothing.
    /// - Throws: `io` if a file was deleted or replaced, because writes to it would be lost.
    func checkFiles() throws
    /// The paths of the files that a commit of any process writes to; see `StorageBackend.commitFiles`. The default is empty.
    var commitFiles: [String] { get }
    /// The sessions that the engine has open for snapshots; see `StorageBackend.readSessions`. The default is `nil`.
    var readSessions: ReadSessions? { get }
    /// Returns a sentence for each damage that the engine finds. A thrown `corrupt` error also counts as a finding.
    /// The default finds nothing.
    /// - Parameter report: Receives the progress in any unit. An error that it throws ends the check.
    /// - Throws: ``EngineDamage`` if reading entries is not safe: the record layer then reads none.
    func verify(reporting report: MaintenanceReport) throws -> [String]
    /// Takes the migration lock, which one process at a time can hold and which is released when the process ends. The default is for engines that only one
    /// process at a time can open, which need no lock.
    /// - Returns: `false` if another process holds the lock.
    func lockMigration() throws -> Bool
    /// Releases the migration lock.
    func unlockMigration()
    /// Writes a copy of the newest version to another location, and returns when the copy and its folder entry are durable. An engine that supports this has
    /// the feature `Capabilities.Feature.copying`; the default throws `unsupported`.
    /// - Parameters:
    ///   - path: A path at which nothing exists.
    ///   - report: Receives the progress in any unit. An error that it throws ends the copy, and nothing of the copy may remain.
    /// - Throws: `io` if something exists at the path.
    func copy(to path: String, reporting report: MaintenanceReport) throws
    /// See `StorageBackend.compact()`. Called without a write transaction. The default throws `unsupported`.
    func compact() throws
}

extension OrderedEngine {
    /// Empty: the default for engines without files.
    public var commitFiles: [String] { [] }
    /// `nil`: the default for engines that keep nothing for later snapshots.
    public var readSessions: ReadSessions? { nil }
    /// Does nothing.
    public func checkFiles() throws {}
    /// Finds nothing.
    public func verify(reporting report: MaintenanceReport) throws -> [String] { [] }
    /// Returns `true` without taking a lock.
    public func lockMigration() throws -> Bool { true }
    /// Does nothing.
    public func unlockMigration() {}
    /// Throws `unsupported`.
    public func compact() throws {
        throw StoreError(
            .unsupported, "This engine cannot compact a store that is in use. Copy the store instead: a copy holds no unused room.")
    }
    /// Throws `unsupported`.
    public func copy(to path: String, reporting report: MaintenanceReport) throws {
        throw StoreError(.unsupported, "The engine of \(location) cannot copy its stores.", location: location)
    }
}

extension OrderedEngine {
    /// Checks the engine without reporting the progress; see ``verify(reporting:)``.
    public func verify() throws -> [String] { try verify { _ in } }
    /// Copies the engine's data without reporting the progress; see ``copy(to:reporting:)``.
    public func copy(to path: String) throws { try copy(to: path) { _ in } }

    /// Copies every key of the newest version to an empty engine. For implementations of ``copy(to:reporting:)``.
    public func copyEntries(to other: any OrderedEngine, reporting report: MaintenanceReport) throws {
        let source = try snapshot()
        defer { source.end() }
        let cursor = try source.cursor()
        defer { cursor.close() }
        let limit = min(other.traits.maximumTransactionSize / 2, 8 << 20)
        var more = try [UInt8]().withUnsafeBytes { try cursor.seek($0) }
        var count = 0
        while more {
            let writer: any EngineWriter =
                if let other = other as? any TransactionalEngine { try other.beginWrite() } else { try OverlayTransaction(other) }
            defer { writer.end() }
            var bytes = 0
            while more, bytes < limit {
                try writer.put(cursor.key, cursor.value)
                bytes += cursor.key.count + cursor.value.count
                count += 1
                if count % 1024 == 0 { try report(MaintenanceProgress(activity: "keys", completed: count)) }
                more = try cursor.next()
            }
            try writer.commit(.full)
        }
    }
}
