import CLMDB
import PolyStoreBackend
import PolyStorePlatform

extension LMDBFile {
    /// Checks the pages of the snapshot that a reader shows.
    /// - Parameters:
    ///   - onlyIfShort: Whether to skip the check if the file contains the last page in use.
    ///   - begin: Begins a read transaction.
    ///   - end: Ends it.
    ///   - report: Receives the number of checked pages.
    /// - Returns: a sentence for each damaged page.
    func findings(
        onlyIfShort: Bool = false, begin: () throws -> OpaquePointer, end: (OpaquePointer) -> Void,
        reporting report: MaintenanceReport = { _ in }
    ) throws -> [String] {
        try reading { descriptor in
            var last: [LMDBMeta] = []
            while true {
                let reader = try begin()
                defer { end(reader) }
                let transaction = UInt64(mdb_txn_id(reader))
                let metas = try self.metas(descriptor)
                // LMDB overwrites the page two commits later.
                guard let meta = metas.first(where: { $0.transaction == transaction }), try self.metas(descriptor).contains(meta) else {
                    if metas == last { return ["No page at the start of the file has the transaction \(transaction)."] }
                    last = metas
                    continue
                }
                if let problem = meta.problem { return ["The start of the file is damaged: \(problem)."] }
                if onlyIfShort, try Self.length(descriptor, storePath) / meta.pageSize > meta.lastPage { return [] }
                let findings = try withoutActuallyEscaping(report) { report in
                    var check = try LMDBPageCheck(descriptor, storePath, meta, reporting: report)
                    return try check.run()
                }
                if findings.isEmpty { return [] }
                // Otherwise the page was overwritten during the check.
                if try self.metas(descriptor).contains(meta) { return findings }
            }
        }
    }

    private func metas(_ descriptor: Int32) throws -> [LMDBMeta] {
        let first = LMDBMeta(try read(descriptor, count: LMDBMeta.size, at: 0))
        return [first, LMDBMeta(try read(descriptor, count: LMDBMeta.size, at: first.pageSize))]
    }

    /// Rewrites the first two pages unchanged and flushes the file, with LMDB's write lock held.
    ///
    /// After a failed flush, pages in memory may be marked clean without being on disk. Data pages are flushed before the page that names their transaction is
    /// written, so only these two pages can be affected. LMDB overwrites the pages of older transactions as soon as it sees the newer ones.
    /// - Parameter descriptor: LMDB's own descriptor.
    func flushMetas(_ descriptor: Int32) throws {
        let pageSize = try metas(descriptor)[0].pageSize
        for offset in [0, pageSize] {
            let bytes = try read(descriptor, count: LMDBMeta.size, at: offset)
            var written = 0
            while written < bytes.count {
                let count = bytes.withUnsafeBytes {
                    pwrite(descriptor, $0.baseAddress.map { $0 + written }, bytes.count - written, off_t(offset + written))
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw storePath.refused("The file cannot be written", count < 0 ? errno : EIO) }
                written += count
            }
        }
        try storePath.flush(descriptor)
    }

    /// Returns whether a partial write has reached a limit: LMDB reports it as EIO.
    static func isFull(_ descriptor: Int32) -> Bool {
        var limit = rlimit()
        var found = stat()
        var buffer = statvfs()
        #if canImport(Glibc)
            let code = getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        #else
            let code = getrlimit(RLIMIT_FSIZE, &limit)
        #endif
        if code == 0, fstat(descriptor, &found) == 0, rlim_t(found.st_size) >= limit.rlim_cur { return true }
        // The write used the available space, except for space that other files have freed since.
        return fstatvfs(descriptor, &buffer) == 0 && UInt64(buffer.f_bavail) < 1 << 18 / max(UInt64(buffer.f_frsize), 1)
    }
}
