// The least that a conversion costs on raw engines: reading every row or pair, and writing it.
//
//     convert read-sqlite FILE          reads every column of every row of the table with the most columns
//     convert copy-sqlite FILE COPY     and inserts it into a table with the same indexes
//     convert read-lmdb FILE            reads every pair
//     convert copy-lmdb FILE COPY       and writes it in the order of the keys
//
// Prints the rows or pairs and the seconds of CPU. A copy is durable at its end.
#include <lmdb.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static unsigned long sink;

static double cpu(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void check(int isRight, const char *what) {
    if (isRight) return;
    fprintf(stderr, "%s failed\n", what);
    exit(1);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
        exit(1);
    }
    return statement;
}

static void run(sqlite3 *db, const char *sql) { check(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, sql); }

static long sqlite_rows(const char *path, const char *copy) {
    sqlite3 *from, *to = NULL;
    check(sqlite3_open_v2(path, &from, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK, path);
    sqlite3_stmt *reader = prepare(from, "SELECT * FROM Contact"), *writer = NULL;
    int columns = sqlite3_column_count(reader);
    if (copy) {
        check(sqlite3_open(copy, &to) == SQLITE_OK, copy);
        run(to, "PRAGMA journal_mode = WAL");
        run(to, "PRAGMA synchronous = NORMAL");
        sqlite3_stmt *schema = prepare(from, "SELECT sql FROM sqlite_master WHERE tbl_name = 'Contact' AND sql IS NOT NULL ORDER BY type DESC");
        while (sqlite3_step(schema) == SQLITE_ROW) run(to, (const char *)sqlite3_column_text(schema, 0));
        sqlite3_finalize(schema);
        char sql[2000] = "INSERT INTO Contact VALUES (?";
        for (int column = 1; column < columns; column++) strcat(sql, ", ?");
        strcat(sql, ")");
        writer = prepare(to, sql);
        run(to, "BEGIN");
    }
    long rows = 0;
    while (sqlite3_step(reader) == SQLITE_ROW) {
        rows++;
        for (int column = 0; column < columns; column++) {
            switch (sqlite3_column_type(reader, column)) {
            case SQLITE_INTEGER: sink += sqlite3_column_int64(reader, column); break;
            case SQLITE_FLOAT: sink += (unsigned long)sqlite3_column_double(reader, column); break;
            default: sink += *(const unsigned char *)sqlite3_column_blob(reader, column) + sqlite3_column_bytes(reader, column);
            }
            if (writer) sqlite3_bind_value(writer, column + 1, sqlite3_column_value(reader, column));
        }
        if (!writer) continue;
        check(sqlite3_step(writer) == SQLITE_DONE, "insert");
        sqlite3_reset(writer);
        if (rows % 50000 == 0) {
            run(to, "COMMIT");
            run(to, "BEGIN");
        }
    }
    if (writer) {
        run(to, "COMMIT");
        run(to, "PRAGMA wal_checkpoint(TRUNCATE)");
        sqlite3_finalize(writer);
        check(sqlite3_close(to) == SQLITE_OK, "close");
    }
    return rows;
}

static MDB_env *open_file(const char *path, unsigned flags) {
    MDB_env *env;
    check(!mdb_env_create(&env), "mdb_env_create");
    check(!mdb_env_set_mapsize(env, (size_t)16 << 30), "mdb_env_set_mapsize");
    check(!mdb_env_open(env, path, MDB_NOSUBDIR | flags, 0644), path);
    return env;
}

static long lmdb_pairs(const char *path, const char *copy) {
    MDB_txn *reader, *writer = NULL;
    MDB_dbi source, target = 0;
    check(!mdb_txn_begin(open_file(path, MDB_RDONLY), NULL, MDB_RDONLY, &reader), "begin");
    check(!mdb_dbi_open(reader, NULL, 0, &source), "open");
    if (copy) {
        check(!mdb_txn_begin(open_file(copy, 0), NULL, 0, &writer), "begin");
        check(!mdb_dbi_open(writer, NULL, 0, &target), "open");
    }
    MDB_cursor *cursor;
    check(!mdb_cursor_open(reader, source, &cursor), "cursor");
    MDB_val key, value;
    long pairs = 0;
    for (int code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST); code == 0; code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) {
        pairs++;
        const unsigned char *bytes = value.mv_data;
        for (size_t i = 0; i < value.mv_size; i += 64) sink += bytes[i];
        if (writer) check(!mdb_put(writer, target, &key, &value, MDB_APPEND), "put");
    }
    if (writer) check(!mdb_txn_commit(writer), "commit");
    return pairs;
}

int main(int count, char **arguments) {
    if (count < 3) return 2;
    double start = cpu();
    const char *copy = count > 3 ? arguments[3] : NULL;
    long found = strstr(arguments[1], "sqlite") ? sqlite_rows(arguments[2], copy) : lmdb_pairs(arguments[2], copy);
    printf("%ld rows, %.6f s\n", found, cpu() - start);
    return sink == 42;
}
