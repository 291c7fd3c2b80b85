import PolyStoreBackend

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Flushes what LevelDB leaves unflushed when it begins a new log.
///
/// A synchronous write flushes the current log only. LevelDB begins a new log when its buffer in memory is full, without flushing the earlier log or the
/// folder. Commits in the earlier log, or the name of the new one, could then be lost although a later `.full` commit was acknowledged.
///
/// Used for one commit at a time.
final class LevelDBDurability {
    private let place: FilePlace
    private let lockFile: Int32
    private var current: UInt64
    private var descriptor: Int32
    /// The current log's size after the last commit.
    private var size: off_t
    /// The current log holds commits that were not flushed.
    private var isUnflushed = false
    /// Earlier logs that hold commits that were not flushed.
    private var earlier: [Int32] = []
    /// The name of the current log may not be durable.
    private var isFolderUnflushed = false

    /// - Parameter lockFile: where the ``LevelDBMark`` is kept.
    init(_ place: FilePlace, lockFile: Int32) throws {
        self.place = place
        self.lockFile = lockFile
        // An opening that succeeds flushes all it has found into tables, and begins a new log.
        guard let newest = try LevelDBFiles(place).logs.max() else {
            throw StoreError(.io, "LevelDB has opened \(place.path) without a log.", url: place.path)
        }
        current = newest
        descriptor = try Self.openLog(place, newest)
        size = 0
        do {
            size = try status(descriptor).st_size
            try flushFolder()
            LevelDBMark(log: newest, size: 0).write(lockFile)
            try place.flush(lockFile)
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func openLog(_ place: FilePlace, _ log: UInt64) throws -> Int32 {
        let log = FilePlace(path: place.path + "/" + LevelDBFiles.log(log))
        let descriptor = open(log.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw log.refused("The log cannot be opened", errno) }
        return descriptor
    }

    private func flushFolder() throws { try FilePlace(path: place.path + "/.").flushFolder() }

    private func status(_ descriptor: Int32) throws -> stat {
        var found = stat()
        guard fstat(descriptor, &found) == 0 else { throw place.refused("The log cannot be read", errno) }
        return found
    }

    /// To be called before LevelDB writes a commit: what fails here leaves nothing of the commit.
    /// - Throws: what is durable of earlier commits is then unknown.
    func prepare(_ durability: Durability) throws {
        guard try status(descriptor).st_nlink > 0 else { throw removed() }
        if durability == .full { try flushEarlier() }
    }

    /// Makes a commit that LevelDB has written as durable as asked.
    /// - Throws: what is durable is then unknown.
    func commit(_ durability: Durability) throws {
        let found = try status(descriptor)
        // A commit makes its log longer, so if the known one has not grown there is a new one.
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
            .io, "The files of \(place.path) were removed or replaced while the store was open. Close it; commits to it would be lost.",
            url: place.path)
    }

    /// Finds the new log.
    private func advance() throws {
        guard let newest = try LevelDBFiles(place).logs.max(), newest > current else { throw removed() }
        let opened = try Self.openLog(place, newest)
        earlier = try earlier.filter { descriptor in
            // LevelDB removes a log when its commits are durable in a table.
            if try status(descriptor).st_nlink > 0 { return true }
            close(descriptor)
            return false
        }
        if isUnflushed { earlier.append(descriptor) } else { close(descriptor) }
        (current, descriptor, size) = (newest, opened, try status(opened).st_size)
        isUnflushed = false
        isFolderUnflushed = true
    }

    private func flushEarlier() throws {
        while let descriptor = earlier.last {
            try place.flush(descriptor)
            close(descriptor)
            earlier.removeLast()
        }
        if isFolderUnflushed {
            try flushFolder()
            isFolderUnflushed = false
        }
    }

    /// Gives back what it holds. To be called after LevelDB has closed its files.
    /// - Parameter flushes: whether relaxed commits are made durable. After a failed write nothing can be said of them.
    func end(flushes: Bool) {
        if flushes, isUnflushed, let found = try? status(descriptor), found.st_size == size {
            do {
                try flushEarlier()
                try place.flush(descriptor)
                LevelDBMark(log: current, size: UInt64(size)).write(lockFile)
            } catch {
                // Relaxed commits are not promised to be durable, and the mark does not say that they are.
            }
        }
        for descriptor in earlier + [descriptor] { close(descriptor) }
        earlier = []
    }
}
