import Engines
import PolyStoreSearchIndex

struct Failure: Error, CustomStringConvertible {
    var description: String
}

/// A store of the benchmark: pages and transactions.
protocol PageStore: SearchPageWriter {
    func begin() throws
    func commit() throws
}

/// Pages in a table of SQLite.
final class SQLitePages: PageStore {
    private var database: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]
    private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    init(_ path: String) throws {
        guard sqlite3_open(path, &database) == SQLITE_OK else { throw Failure(description: "cannot open \(path)") }
        try run("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536")
        try run("CREATE TABLE IF NOT EXISTS pages (k BLOB PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID")
    }

    func run(_ text: String) throws {
        guard sqlite3_exec(database, text, nil, nil, nil) == SQLITE_OK else {
            throw Failure(description: String(cString: sqlite3_errmsg(database)))
        }
    }

    func begin() throws { try run("BEGIN") }
    func commit() throws { try run("COMMIT") }

    private func statement(_ text: String) throws -> OpaquePointer {
        if let known = statements[text] { return known }
        var statement: OpaquePointer?
        guard sqlite3_prepare_v3(database, text, -1, 1, &statement, nil) == SQLITE_OK, let statement else {
            throw Failure(description: String(cString: sqlite3_errmsg(database)))
        }
        statements[text] = statement
        return statement
    }

    private func bind(_ bytes: [UInt8], _ index: Int32, _ statement: OpaquePointer) {
        sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), transient)
    }

    private func column(_ index: Int32, _ statement: OpaquePointer) -> [UInt8] {
        let count = Int(sqlite3_column_bytes(statement, index))
        guard let start = sqlite3_column_blob(statement, index) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    func pages(atOrAfter keys: [[UInt8]]) throws -> [SearchPage?] {
        let statement = try statement("SELECT k, v FROM pages WHERE k >= ? ORDER BY k LIMIT 1")
        return keys.map { key in
            bind(key, 1, statement)
            defer { sqlite3_reset(statement) }
            guard sqlite3_step(statement) == SQLITE_ROW else { return nil }
            return SearchPage(key: column(0, statement), bytes: column(1, statement))
        }
    }

    func pages(at keys: [[UInt8]]) throws -> [[UInt8]?] {
        let statement = try statement("SELECT v FROM pages WHERE k = ?")
        return keys.map { key in
            bind(key, 1, statement)
            defer { sqlite3_reset(statement) }
            return sqlite3_step(statement) == SQLITE_ROW ? column(0, statement) : nil
        }
    }

    func pages(from lower: [UInt8], below upper: [UInt8], limit: Int) throws -> [SearchPage] {
        let statement = try statement("SELECT k, v FROM pages WHERE k >= ? AND k < ? ORDER BY k LIMIT ?")
        bind(lower, 1, statement)
        bind(upper, 2, statement)
        sqlite3_bind_int64(statement, 3, Int64(limit))
        var found: [SearchPage] = []
        while sqlite3_step(statement) == SQLITE_ROW { found.append(SearchPage(key: column(0, statement), bytes: column(1, statement))) }
        sqlite3_reset(statement)
        return found
    }

    func write(_ pages: [SearchPage], removing keys: [[UInt8]]) throws {
        let insert = try statement("REPLACE INTO pages VALUES (?, ?)")
        for page in pages {
            bind(page.key, 1, insert)
            bind(page.bytes, 2, insert)
            guard sqlite3_step(insert) == SQLITE_DONE else { throw Failure(description: String(cString: sqlite3_errmsg(database))) }
            sqlite3_reset(insert)
        }
        let delete = try statement("DELETE FROM pages WHERE k = ?")
        for key in keys {
            bind(key, 1, delete)
            guard sqlite3_step(delete) == SQLITE_DONE else { throw Failure(description: String(cString: sqlite3_errmsg(database))) }
            sqlite3_reset(delete)
        }
    }

    func remove(from lower: [UInt8], below upper: [UInt8]) throws {
        let delete = try statement("DELETE FROM pages WHERE k >= ? AND k < ?")
        bind(lower, 1, delete)
        bind(upper, 2, delete)
        sqlite3_step(delete)
        sqlite3_reset(delete)
    }
}

/// Pages in a database of LMDB.
final class LMDBPages: PageStore {
    private var environment: OpaquePointer?
    private var transaction: OpaquePointer?
    private var database: MDB_dbi = 0
    private var cursor: OpaquePointer?

    init(_ path: String) throws {
        try check(mdb_env_create(&environment))
        try check(mdb_env_set_mapsize(environment, 8 << 30))
        try check(mdb_env_open(environment, path, UInt32(MDB_NOSUBDIR | MDB_NOSYNC), 0o644))
        try begin()
        try check(mdb_dbi_open(transaction, nil, 0, &database))
        try commit()
    }

    private func check(_ code: Int32) throws {
        guard code == 0 else { throw Failure(description: String(cString: mdb_strerror(code))) }
    }

    func begin() throws {
        try check(mdb_txn_begin(environment, nil, 0, &transaction))
        if database != 0 { try check(mdb_cursor_open(transaction, database, &cursor)) }
    }

    func commit() throws {
        if let cursor { mdb_cursor_close(cursor) }
        cursor = nil
        try check(mdb_txn_commit(transaction))
    }

    private func array(_ value: MDB_val) -> [UInt8] { Array(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)) }

    private func with<T>(_ bytes: [UInt8], _ body: (inout MDB_val) throws -> T) rethrows -> T {
        try bytes.withUnsafeBytes { buffer in
            var value = MDB_val(mv_size: buffer.count, mv_data: UnsafeMutableRawPointer(mutating: buffer.baseAddress))
            return try body(&value)
        }
    }

    private func seek(_ key: [UInt8]) -> SearchPage? {
        with(key) { key in
            var value = MDB_val()
            guard mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE) == 0 else { return nil }
            return SearchPage(key: array(key), bytes: array(value))
        }
    }

    func pages(atOrAfter keys: [[UInt8]]) throws -> [SearchPage?] { keys.map(seek) }

    func pages(at keys: [[UInt8]]) throws -> [[UInt8]?] {
        keys.map { key in
            with(key) { key in
                var value = MDB_val()
                return mdb_get(transaction, database, &key, &value) == 0 ? array(value) : nil
            }
        }
    }

    func pages(from lower: [UInt8], below upper: [UInt8], limit: Int) throws -> [SearchPage] {
        var found: [SearchPage] = []
        var next = seek(lower)
        while let page = next, page.key.lexicographicallyPrecedes(upper) {
            found.append(page)
            if found.count == limit { break }
            var key = MDB_val()
            var value = MDB_val()
            next = mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0 ? SearchPage(key: array(key), bytes: array(value)) : nil
        }
        return found
    }

    func write(_ pages: [SearchPage], removing keys: [[UInt8]]) throws {
        for page in pages {
            try with(page.key) { key in try with(page.bytes) { value in try check(mdb_put(transaction, database, &key, &value, 0)) } }
        }
        for key in keys { try with(key) { key in try check(mdb_del(transaction, database, &key, nil)) } }
    }

    func remove(from lower: [UInt8], below upper: [UInt8]) throws {
        for page in try pages(from: lower, below: upper, limit: .max) { try write([], removing: [page.key]) }
    }
}

/// Pages in a database of LevelDB. The calls of a transaction are written one by one, each as one batch, so that later reads see them.
final class LevelDBPages: PageStore {
    private let database: OpaquePointer
    private let reading = leveldb_readoptions_create()
    private let writing = leveldb_writeoptions_create()

    init(_ path: String) throws {
        let options = leveldb_options_create()
        leveldb_options_set_create_if_missing(options, 1)
        leveldb_options_set_cache(options, leveldb_cache_create_lru(64 << 20))
        leveldb_options_set_write_buffer_size(options, 16 << 20)
        leveldb_options_set_filter_policy(options, leveldb_filterpolicy_create_bloom(10))
        var failure: UnsafeMutablePointer<CChar>?
        guard let database = leveldb_open(options, path, &failure) else {
            throw Failure(description: failure.map { String(cString: $0) } ?? "cannot open \(path)")
        }
        self.database = database
    }

    deinit { leveldb_close(database) }

    func begin() {}
    func commit() {}

    private func with<T>(_ bytes: [UInt8], _ body: (UnsafePointer<CChar>?, Int) throws -> T) rethrows -> T {
        try bytes.withUnsafeBytes { try body($0.bindMemory(to: CChar.self).baseAddress, $0.count) }
    }

    private func array(_ start: UnsafePointer<CChar>?, _ count: Int) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    private func page(_ iterator: OpaquePointer?) -> SearchPage? {
        guard leveldb_iter_valid(iterator) != 0 else { return nil }
        var (keyCount, count) = (0, 0)
        let key = leveldb_iter_key(iterator, &keyCount)
        let value = leveldb_iter_value(iterator, &count)
        return SearchPage(key: array(key, keyCount), bytes: array(value, count))
    }

    private func withIterator<T>(_ body: (OpaquePointer?) throws -> T) rethrows -> T {
        let iterator = leveldb_create_iterator(database, reading)
        defer { leveldb_iter_destroy(iterator) }
        return try body(iterator)
    }

    func pages(atOrAfter keys: [[UInt8]]) throws -> [SearchPage?] {
        withIterator { iterator in
            keys.map { key in
                with(key) { leveldb_iter_seek(iterator, $0, $1) }
                return page(iterator)
            }
        }
    }

    func pages(at keys: [[UInt8]]) throws -> [[UInt8]?] {
        keys.map { key in
            var count = 0
            var failure: UnsafeMutablePointer<CChar>?
            guard let start = with(key, { leveldb_get(database, reading, $0, $1, &count, &failure) }) else { return nil }
            defer { leveldb_free(start) }
            return array(start, count)
        }
    }

    func pages(from lower: [UInt8], below upper: [UInt8], limit: Int) throws -> [SearchPage] {
        withIterator { iterator in
            var found: [SearchPage] = []
            with(lower) { leveldb_iter_seek(iterator, $0, $1) }
            while found.count < limit, let page = page(iterator), page.key.lexicographicallyPrecedes(upper) {
                found.append(page)
                leveldb_iter_next(iterator)
            }
            return found
        }
    }

    func write(_ pages: [SearchPage], removing keys: [[UInt8]]) throws {
        let batch = leveldb_writebatch_create()
        defer { leveldb_writebatch_destroy(batch) }
        for page in pages {
            with(page.key) { key, count in with(page.bytes) { leveldb_writebatch_put(batch, key, count, $0, $1) } }
        }
        for key in keys { with(key) { leveldb_writebatch_delete(batch, $0, $1) } }
        var failure: UnsafeMutablePointer<CChar>?
        leveldb_write(database, writing, batch, &failure)
        if let failure { throw Failure(description: String(cString: failure)) }
    }

    func remove(from lower: [UInt8], below upper: [UInt8]) throws {
        try write([], removing: pages(from: lower, below: upper, limit: .max).map(\.key))
    }
}
