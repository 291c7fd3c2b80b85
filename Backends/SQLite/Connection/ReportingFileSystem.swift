import CSQLite
import PolyStoreBackend
import PolyStorePlatform

/// SQLite's file system layer (VFS), with failed reads and failed flushes of the folder reported as such.
///
/// SQLite's own reports a read that fails with `EIO` as `SQLITE_IOERR_CORRUPTFS`, and the statement then fails with `SQLITE_CORRUPT`, as if the file were damaged.
/// This layer reports `SQLITE_IOERR_READ`, and counts the failed reads of each file for the integrity check, which lists a page that cannot be read as a finding.
/// After it has created a log or a journal, SQLite flushes the folder too, but ignores an error of that. A power cut may then remove the log, also after its frames
/// were flushed and were partly copied into the database. This layer therefore flushes the folder itself before the first flush of such a file.
///
/// It also keeps the system's error for a failed call, because SQLite reports a full disk as such only for the pages of the database and its log.
enum ReportingFileSystem {
    /// The name of the layer for `sqlite3_open_v2`; `nil` for SQLite's default layer, if that is not one of its own for Unix.
    static let name: String? = register()

    /// Follows the file of the wrapped layer in memory.
    private struct Tail {
        let wrapped: UnsafePointer<sqlite3_io_methods>
        var methods: sqlite3_io_methods
        /// The path of a log or a journal whose folder has not been flushed since it was opened. SQLite keeps the text until it closes the file.
        var unflushedPath: UnsafePointer<CChar>?
        var failedReads = 0
    }

    private struct Wrapped: @unchecked Sendable {  // registered until the process ends, and never modified
        let layer: UnsafeMutablePointer<sqlite3_vfs>
        /// The offset of the tail in the memory of a file.
        let offset: Int
    }

    private static let wrapped: Wrapped? = {
        guard let layer = sqlite3_vfs_find(nil), let name = layer.pointee.zName, String(cString: name).hasPrefix("unix") else { return nil }
        return Wrapped(layer: layer, offset: (Int(layer.pointee.szOsFile) + 15) & ~15)
    }()

    private static func register() -> String? {
        guard let wrapped else { return nil }
        let name = "polystore"
        // Never freed: SQLite keeps both.
        let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        layer.initialize(to: wrapped.layer.pointee)
        layer.pointee.zName = UnsafePointer(strdup(name))
        layer.pointee.pNext = nil
        layer.pointee.szOsFile = Int32(wrapped.offset + MemoryLayout<Tail>.size)
        layer.pointee.xOpen = { _, path, file, flags, result in ReportingFileSystem.open(path, file, flags, result) }
        return sqlite3_vfs_register(layer, 0) == SQLITE_OK ? name : nil
    }

    private static func open(
        _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32, _ result: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let wrapped, let file, let open = wrapped.layer.pointee.xOpen else { return SQLITE_CANTOPEN }
        let code = recorded(open(wrapped.layer, path, file, flags, result))
        guard let methods = file.pointee.pMethods else { return code }
        var own = methods.pointee
        own.xRead = { file, bytes, count, offset in ReportingFileSystem.read(file, bytes, count, offset) }
        own.xWrite = { file, bytes, count, offset in
            ReportingFileSystem.call(file, { $0.pointee.xWrite }, { $0(file, bytes, count, offset) })
        }
        own.xTruncate = { file, size in ReportingFileSystem.call(file, { $0.pointee.xTruncate }, { $0(file, size) }) }
        own.xSync = { file, flags in ReportingFileSystem.sync(file, flags) }
        if own.iVersion >= 2, own.xShmMap != nil {
            own.xShmMap = { file, page, size, extends, map in
                ReportingFileSystem.call(file, { $0.pointee.xShmMap }, { $0(file, page, size, extends, map) })
            }
        }
        let tail = tail(file, wrapped)
        let mayBeNew = flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL) != 0 && flags & SQLITE_OPEN_CREATE != 0
        tail.initialize(to: Tail(wrapped: methods, methods: own, unflushedPath: mayBeNew ? path : nil))
        if let offset = MemoryLayout<Tail>.offset(of: \.methods) {
            file.pointee.pMethods = UnsafePointer((UnsafeMutableRawPointer(tail) + offset).assumingMemoryBound(to: sqlite3_io_methods.self))
        }
        return code
    }

    private static func tail(_ file: UnsafeMutablePointer<sqlite3_file>, _ wrapped: Wrapped) -> UnsafeMutablePointer<Tail> {
        (UnsafeMutableRawPointer(file) + wrapped.offset).assumingMemoryBound(to: Tail.self)
    }

    private static func read(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeMutableRawPointer?, _ count: Int32, _ offset: sqlite3_int64
    ) -> Int32 {
        guard let wrapped, let file else { return SQLITE_IOERR }
        let tail = tail(file, wrapped)
        guard let read = tail.pointee.wrapped.pointee.xRead else { return SQLITE_IOERR }
        let code = read(file, bytes, count, offset)
        // A read past the end of the file is none that failed.
        if code == SQLITE_OK || code == polystore_sqlite_ioerr_short_read { return code }
        tail.pointee.failedReads += 1
        return recorded(code == polystore_sqlite_ioerr_corruptfs ? polystore_sqlite_ioerr_read : code)
    }

    private static func sync(_ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32) -> Int32 {
        guard let wrapped, let file else { return SQLITE_IOERR }
        if let path = tail(file, wrapped).pointee.unflushedPath {
            let (code, error) = StorePath(path: String(cString: path)).flushFolderIfPossible()
            if code != SQLITE_OK {
                errno = error
                return recorded(code)
            }
            tail(file, wrapped).pointee.unflushedPath = nil
        }
        return call(file, { $0.pointee.xSync }, { $0(file, flags) })
    }

    /// Calls a method of the wrapped layer.
    private static func call<Method>(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ method: (UnsafePointer<sqlite3_io_methods>) -> Method?, _ body: (Method) -> Int32
    ) -> Int32 {
        guard let wrapped, let file, let found = method(tail(file, wrapped).pointee.wrapped) else { return SQLITE_IOERR }
        return recorded(body(found))
    }

    // MARK: Errors of the system

    /// The latest failed call of a thread. SQLite calls the layer on the thread that calls SQLite.
    private static let latest: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Keeps the system's error for a failed call.
    private static func recorded(_ code: Int32) -> Int32 {
        guard code != SQLITE_OK else { return code }
        let error = errno
        pthread_setspecific(latest, UnsafeRawPointer(bitPattern: Int(code) << 32 | Int(error)))
        return code
    }

    /// Returns the system's error for a result code of SQLite that this thread has just received; 0 if it is unknown.
    static func systemError(of code: Int32) -> Int32 {
        let value = Int(bitPattern: pthread_getspecific(latest))
        return value >> 32 == Int(code) ? Int32(truncatingIfNeeded: value) : 0
    }

    /// Returns the number of failed reads of the database and of its write-ahead log since they were opened.
    static func failedReads(of connection: OpaquePointer) -> Int {
        guard name != nil, let wrapped else { return 0 }
        var count = 0
        for operation in [SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER] {
            var file: UnsafeMutablePointer<sqlite3_file>?
            // A file without methods is not open.
            guard sqlite3_file_control(connection, "main", operation, &file) == SQLITE_OK, let file, file.pointee.pMethods != nil else {
                continue
            }
            count += tail(file, wrapped).pointee.failedReads
        }
        return count
    }
}
