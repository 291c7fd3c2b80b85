#pragma once
#include <sqlite3.h>

/* What Swift cannot import: cast macros, composed constants, variadic functions, file methods. */

static inline sqlite3_destructor_type polystore_sqlite_transient(void) { return SQLITE_TRANSIENT; }

static const int polystore_sqlite_constraint_primary_key = SQLITE_CONSTRAINT_PRIMARYKEY;
static const int polystore_sqlite_constraint_rowid = SQLITE_CONSTRAINT_ROWID;
static const int polystore_sqlite_constraint_unique = SQLITE_CONSTRAINT_UNIQUE;

static const int polystore_sqlite_ioerr_read = SQLITE_IOERR_READ;
static const int polystore_sqlite_ioerr_short_read = SQLITE_IOERR_SHORT_READ;
static const int polystore_sqlite_ioerr_dir_fsync = SQLITE_IOERR_DIR_FSYNC;
/* Defined since version 3.34. */
static const int polystore_sqlite_ioerr_corruptfs = SQLITE_IOERR | (33 << 8);

/* Unknown names are errors instead of string literals, and SQL cannot damage the file on purpose. */
static inline void polystore_sqlite_harden(sqlite3 *db) {
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

/* Closing leaves the database file and its log as they are. */
static inline void polystore_sqlite_leave_wal(sqlite3 *db) {
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/* A number that differs after every commit of any connection that this connection has noticed, and after each own commit. */
static inline unsigned int polystore_sqlite_data_version(sqlite3 *db) {
    unsigned int version = 0;
    sqlite3_file_control(db, (const char *)0, SQLITE_FCNTL_DATA_VERSION, &version);
    return version;
}

/* Flushes the write-ahead log to the disk. */
static inline int polystore_sqlite_sync_wal(sqlite3 *db) {
    sqlite3_file *file = 0;
    int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
    if (code != SQLITE_OK) return code;
    if (file == 0 || file->pMethods == 0) return SQLITE_OK;
    return file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
}

/* Whether the whole of an open file is zeros, and its length one that a first page has. Negative if a method failed. */
static inline int polystore_sqlite_is_zeros(sqlite3_file *file) {
    sqlite3_int64 size = 0;
    unsigned char part[512];
    if (file->pMethods->xFileSize(file, &size) != SQLITE_OK) return -1;
    if (size < 512 || size > 65536 || (size & (size - 1)) != 0) return 0;
    for (sqlite3_int64 at = 0; at < size; at += sizeof part) {
        if (file->pMethods->xRead(file, part, sizeof part, at) != SQLITE_OK) return -1;
        for (unsigned i = 0; i < sizeof part; i++) if (part[i] != 0) return 0;
    }
    return 1;
}

/* Empties a database file that is one page of zeros, under SQLite's exclusive lock. The connection must not be in a transaction.
   *emptied tells whether it was; SQLITE_BUSY means that another connection has the file locked. */
static inline int polystore_sqlite_empty_zeros(sqlite3 *db, int *emptied) {
    sqlite3_file *file = 0;
    *emptied = 0;
    int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK) return code;
    if (file == 0 || file->pMethods == 0 || polystore_sqlite_is_zeros(file) != 1) return SQLITE_OK;
    code = file->pMethods->xLock(file, SQLITE_LOCK_SHARED);
    if (code == SQLITE_OK) code = file->pMethods->xLock(file, SQLITE_LOCK_RESERVED);
    if (code == SQLITE_OK) code = file->pMethods->xLock(file, SQLITE_LOCK_EXCLUSIVE);
    if (code == SQLITE_OK && polystore_sqlite_is_zeros(file) == 1) {
        code = file->pMethods->xTruncate(file, 0);
        if (code == SQLITE_OK) code = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
        *emptied = code == SQLITE_OK;
    }
    file->pMethods->xUnlock(file, SQLITE_LOCK_NONE);
    return code;
}
