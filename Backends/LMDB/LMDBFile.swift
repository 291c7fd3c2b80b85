import CLMDB
import PolyStoreBackend
import PolyStorePlatform

/// An LMDB file that is examined with plain reads before LMDB maps it.
///
/// LMDB trusts the first two pages: a wrong page size causes a division by zero, and a page past the end of the file a bus error. These pages are therefore
/// checked first. LMDB holds its locks on another file, so opening and closing this one releases none.
struct LMDBFile {
    let storePath: StorePath

    /// The state of a file according to its first two pages.
    enum State {
        case empty
        /// The creation was interrupted by a crash, a kill or a full disk: no transaction was ever committed to the file.
        case interrupted
        /// The current meta page.
        case sound(LMDBMeta)
        case refused(StoreError)
    }

    /// Ensures that the file exists with the right permissions.
    func prepare(isReadOnly: Bool, mode: UInt32) throws {
        switch try storePath.kind() {
        case .file: return
        case .absent:
            guard !isReadOnly else {
                throw StoreError(
                    .io, "The file \(storePath.path) does not exist, and opening a store read-only does not create it.",
                    location: storePath.path)
            }
            try storePath.create(mode: mode)
        case .directory:
            throw StoreError(
                .notAStore, "\(storePath.path) is a folder, and a file was expected. It was left as it is.", location: storePath.path)
        case .other: throw StoreError(.io, "\(storePath.path) is not a regular file.", location: storePath.path)
        }
    }

    /// Checks that LMDB can open the file, and truncates one whose creation was interrupted. Call it while this process does not have the file open in LMDB.
    /// - Returns: whether the file is empty, so that LMDB creates a database in it.
    /// - Throws: `notAStore`, `corrupt`, `incompatibleSchema`; `busy` if another process creates the file and does not finish in time.
    func admit(isReadOnly: Bool, timeout: Duration) throws -> Bool {
        let deadline = Deadline(after: timeout)
        while true {
            switch try state() {
            case .sound: return false
            case .refused(let error): throw error
            case .empty:
                if isReadOnly { throw unfinished("is empty") }
                return true
            case .interrupted:
                if isReadOnly { throw unfinished("was never completely created") }
                if try emptyInterrupted() { return true }
                if deadline.isPast {
                    throw StoreError(
                        .busy, "Another process is creating \(storePath.path). Open the store again later.", location: storePath.path)
                }
                Deadline.pause(milliseconds: 1)
            }
        }
    }

    private func unfinished(_ what: String) -> StoreError {
        StoreError(.notAStore, "The file \(storePath.path) \(what). Open it for writing to make a store of it.", location: storePath.path)
    }

    // MARK: File state

    /// Reads the first two pages until they are consistent, because another process may be writing one of them.
    func state() throws -> State {
        try reading { descriptor in
            var last: [[UInt8]] = []
            for _ in 0..<100 {
                let (state, bytes) = try judge(descriptor)
                guard case .refused = state, bytes != last else { return state }
                last = bytes
            }
            return try judge(descriptor).0
        }
    }

    private func judge(_ descriptor: Int32) throws -> (State, [[UInt8]]) {
        let length = try Self.length(descriptor, storePath)
        if length == 0 { return (.empty, []) }
        let first = try read(descriptor, count: LMDBMeta.size, at: 0)
        let meta = LMDBMeta(first)
        var pages = [first]
        if meta.isMeta, meta.hasPageSize {
            let second = try read(descriptor, count: LMDBMeta.size, at: meta.pageSize)
            pages.append(second)
            let metas = [meta, LMDBMeta(second)]
            if metas[1].isMeta, length >= 2 * meta.pageSize { return (judge(metas, length: length), pages) }
        }
        // One of the two pages is not an LMDB page.
        if try LMDBCreation.isInterrupted(length: length, read: { try read(descriptor, count: $0, at: 0) }) { return (.interrupted, pages) }
        if meta.isMeta { return (.refused(damaged(meta.hasPageSize ? "the second page" : "the page size is \(meta.pageSize)")), pages) }
        if try hasSecondMeta(descriptor) { return (.refused(damaged("the first page")), pages) }
        return (.refused(StoreError(lmdb: MDB_INVALID, "Opening", path: storePath.path)), pages)
    }

    /// - Parameter metas: Both meta pages of LMDB, the first with a valid page size.
    private func judge(_ metas: [LMDBMeta], length: Int) -> State {
        guard metas.contains(where: { $0.version == LMDBMeta.version }) else {
            return .refused(StoreError(lmdb: MDB_VERSION_MISMATCH, "Opening", path: storePath.path))
        }
        // The same choice as LMDB's.
        let newest = metas[metas[0].transaction < metas[1].transaction ? 1 : 0]
        if let problem = newest.problem { return .refused(damaged(problem)) }
        // More pages than one transaction can allocate and free before it writes.
        if newest.lastPage > UInt64(length / newest.pageSize) + 1 << 24 {
            return .refused(damaged("page \(newest.lastPage) is in use, and the file has \(length) bytes"))
        }
        for (page, meta) in metas.enumerated() {
            if meta.version != LMDBMeta.version { return .refused(damaged("the format is \(meta.version)")) }
            if meta.pageSize != newest.pageSize { return .refused(damaged("the page size is \(meta.pageSize)")) }
            // Transactions write the pages alternately. Page 1 has no transaction before the first one.
            if meta.transaction != 0, Int(meta.transaction & 1) != page {
                return .refused(damaged("page \(page) has the transaction \(meta.transaction)"))
            }
        }
        // The numbers differ by 1. A power failure after a failed flush can leave a difference of 3.
        let difference = newest.transaction - metas[newest == metas[0] ? 1 : 0].transaction
        if newest.transaction != 0, difference != 1, difference != 3 {
            return .refused(damaged("the transactions \(metas[0].transaction) and \(metas[1].transaction) do not follow each other"))
        }
        // With other flags, keys would be compared in another order.
        guard newest.main.flags & 0x7fff == 0 else {
            return .refused(
                StoreError(
                    .notAStore,
                    "The LMDB database \(storePath.path) has the flags \(newest.main.flags), which a store does not have: it belongs to another program, "
                        + "or is damaged. It was left as it is.", location: storePath.path))
        }
        return .sound(newest)
    }

    private func damaged(_ what: String) -> StoreError {
        StoreError(
            .corrupt, "The store \(storePath.path) is damaged at its start: \(what). Restore it from a backup.", location: storePath.path,
            engineCode: Int(MDB_CORRUPTED))
    }

    /// Returns whether LMDB's second page is at the offset of one of its page sizes.
    private func hasSecondMeta(_ descriptor: Int32) throws -> Bool {
        var size = 512
        while size <= LMDBMeta.largestPage {
            let meta = LMDBMeta(try read(descriptor, count: LMDBMeta.size, at: size))
            if meta.isMeta, meta.pageSize == size { return true }
            size *= 2
        }
        return false
    }

    // MARK: Flushing

    /// Flushes a new file, its folder entry and that of its lock file.
    func flushCreation(_ descriptor: Int32) throws {
        try storePath.flush(descriptor)
        try storePath.flushFolder()
    }

    // MARK: Reading

    func reading<Result>(_ body: (Int32) throws -> Result) throws -> Result {
        let descriptor = open(storePath.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw storePath.refused("The file cannot be read", errno) }
        defer { Self.close(descriptor) }
        return try body(descriptor)
    }

    /// - Returns: the bytes, with zeros past the end of the file.
    func read(_ descriptor: Int32, count: Int, at offset: Int) throws -> [UInt8] {
        try Self.read(descriptor, storePath, count: count, at: offset).bytes
    }

    /// - Returns: the requested number of bytes, with zeros past the end of the file, and the number of bytes that are in the file.
    static func read(_ descriptor: Int32, _ storePath: StorePath, count: Int, at offset: Int) throws -> (bytes: [UInt8], count: Int) {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let found = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress.map { $0 + done }, count - done, off_t(offset + done))
            }
            if found < 0, errno == EINTR { continue }
            if found < 0 { throw storePath.refused("The file cannot be read", errno) }
            if found == 0 { break }
            done += found
        }
        return (bytes, done)
    }

    static func length(_ descriptor: Int32, _ storePath: StorePath) throws -> Int {
        var found = stat()
        guard fstat(descriptor, &found) == 0 else { throw storePath.refused("The file cannot be reached", errno) }
        return Int(found.st_size)
    }

    static func close(_ descriptor: Int32) { _ = PolyStorePlatform.close(descriptor) }
}
