import PolyStoreBackend
import PolyStorePlatform

/// Flushes the files that LevelDB leaves unflushed when it starts a new log.
///
/// A synchronous write flushes only the current log. LevelDB starts a new log when its memory buffer is full, without flushing the previous log or the folder.
/// Commits in the previous log, or the name of the new one, could then be lost although a later `.full` commit was acknowledged.
///
/// Used for one commit at a time.
final class LevelDBDurability {
    private let storePath: StorePath
    private let lockFile: Int32
    /// Lists the numbers of the logs in the folder. Tests replace it.
    private let listLogs: (StorePath) throws -> Set<UInt64>
    private var current: UInt64
    private var descriptor: Int32
    /// The size of the current log after the last commit.
    private var size: off_t
    /// A Boolean value that indicates whether the current log contains unflushed commits.
    private var isUnflushed = false
    /// The descriptors of earlier logs with unflushed commits.
    private var earlier: [Int32] = []
    /// A Boolean value that indicates whether the name of the current log may not be durable.
    private var isFolderUnflushed = false

    /// - Parameters:
    ///   - lockFile: The file that contains the ``LevelDBMark``.
    ///   - listLogs: Lists the numbers of the logs in the folder.
    init(
        _ storePath: StorePath, lockFile: Int32, listLogs: @escaping (StorePath) throws -> Set<UInt64> = { try LevelDBFiles($0).logs }
    ) throws {
        self.storePath = storePath
        self.lockFile = lockFile
        self.listLogs = listLogs
        // A successful opening flushes all existing data to tables and starts a new log.
        guard let newest = try listLogs(storePath).max(), let opened = try Self.openLog(storePath, newest) else {
            throw StoreError(.io, "LevelDB has opened \(storePath.path) without a log.", location: storePath.path)
        }
        current = newest
        descriptor = opened
        size = 0
        do {
            size = try status(descriptor).st_size
            try flushFolder()
            LevelDBMark(log: newest, size: 0).write(lockFile)
            try storePath.flush(lockFile)
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// - Returns: `nil` if the log was removed.
    private static func openLog(_ storePath: StorePath, _ log: UInt64) throws -> Int32? {
        let log = StorePath(path: storePath.path + "/" + LevelDBFiles.log(log))
        let descriptor = open(log.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw log.refused("The log cannot be opened", errno)
        }
        return descriptor
    }

    private func flushFolder() throws { try StorePath(path: storePath.path + "/.").flushFolder() }

    private func status(_ descriptor: Int32) throws -> stat {
        var found = stat()
        guard fstat(descriptor, &found) == 0 else { throw storePath.refused("The log cannot be read", errno) }
        return found
    }

    /// Prepares a commit before LevelDB writes it. If this fails, nothing of the commit is written.
    /// - Throws: an error, after which the durability of earlier commits is unknown.
    func prepare(_ durability: Durability) throws {
        // Compaction of the whole store starts a new log without a commit, and LevelDB removes the previous one.
        if try status(descriptor).st_nlink == 0 { try advance() }
        if durability == .full { try flushEarlier() }
    }

    /// Makes a commit that LevelDB has written as durable as requested.
    /// - Throws: an error, after which the durability of commits is unknown.
    func commit(_ durability: Durability) throws {
        let found = try status(descriptor)
        // A commit extends its log. If the known log has not grown, there is a new one.
        if found.st_size > size { size = found.st_size } else { try advance() }
        guard durability == .full else {
            isUnflushed = true
            return
        }
        try flushEarlier()
        isUnflushed = false
        LevelDBMark(log: current, size: UInt64(size)).write(lockFile)
    }

    private func removed() -> StoreError {
        StoreError(
            .io, "The files of \(storePath.path) were removed or replaced while the store was open. Close it; commits to it would be lost.",
            location: storePath.path)
    }

    /// The number of listings without a new log after which the files count as removed. A listing can miss a log that is created while another is removed.
    private static let mostListings = 100

    /// Switches to the newest log.
    ///
    /// A compaction can start further logs and remove earlier ones at any time, also between the listing of the folder and the opening of a log. LevelDB removes
    /// a log only when its commits are durable in a table, so a log that is missing needs no flush. The logs between the known one and the newest may hold
    /// the latest commit.
    private func advance() throws {
        var opened: [(log: UInt64, descriptor: Int32)] = []
        do {
            for _ in 0..<Self.mostListings where opened.isEmpty {
                for log in try listLogs(storePath).filter({ $0 > current }).sorted() {
                    if let descriptor = try Self.openLog(storePath, log) { opened.append((log, descriptor)) }
                }
            }
            guard let newest = opened.last else { throw removed() }
            let newSize = try status(newest.descriptor).st_size
            let between = opened.dropLast().map(\.descriptor)
            earlier += (isUnflushed ? [descriptor] : []) + between
            if !isUnflushed { close(descriptor) }
            (current, descriptor, size) = (newest.log, newest.descriptor, newSize)
        } catch {
            for log in opened { close(log.descriptor) }
            throw error
        }
        earlier = try earlier.filter { descriptor in
            if try status(descriptor).st_nlink > 0 { return true }
            close(descriptor)
            return false
        }
        isUnflushed = false
        isFolderUnflushed = true
    }

    private func flushEarlier() throws {
        while let descriptor = earlier.last {
            try storePath.flush(descriptor)
            close(descriptor)
            earlier.removeLast()
        }
        if isFolderUnflushed {
            try flushFolder()
            isFolderUnflushed = false
        }
    }

    /// Releases the descriptors. Call it after LevelDB has closed its files.
    /// - Parameter flushes: Whether relaxed commits are made durable. Their state is unknown after a failed write.
    func end(flushes: Bool) {
        if flushes, isUnflushed, let found = try? status(descriptor), found.st_size == size {
            do {
                try flushEarlier()
                try storePath.flush(descriptor)
                LevelDBMark(log: current, size: UInt64(size)).write(lockFile)
            } catch {
                // Relaxed commits need not be durable, and the mark does not cover them.
            }
        }
        for descriptor in earlier + [descriptor] { close(descriptor) }
        earlier = []
    }
}
