// Reads every pair of an LMDB file and writes it to another one in the order of the keys: the least that a migration which rewrites every record costs.
//
//     migrate_lmdb FROM TO      prints the pairs and the seconds of CPU
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(int code, const char *what) {
    if (code == 0) return;
    fprintf(stderr, "%s: %s\n", what, mdb_strerror(code));
    exit(1);
}

static MDB_env *open_file(const char *path, unsigned flags, size_t map) {
    MDB_env *env;
    check(mdb_env_create(&env), "mdb_env_create");
    check(mdb_env_set_mapsize(env, map), "mdb_env_set_mapsize");
    check(mdb_env_open(env, path, MDB_NOSUBDIR | flags, 0644), path);
    return env;
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    MDB_env *from = open_file(arguments[1], MDB_RDONLY, (size_t)4 << 30), *to = open_file(arguments[2], 0, (size_t)4 << 30);
    clock_t start = clock();
    MDB_txn *reader, *writer;
    MDB_dbi source, target;
    check(mdb_txn_begin(from, NULL, MDB_RDONLY, &reader), "begin");
    check(mdb_dbi_open(reader, NULL, 0, &source), "open");
    check(mdb_txn_begin(to, NULL, 0, &writer), "begin");
    check(mdb_dbi_open(writer, NULL, 0, &target), "open");
    MDB_cursor *cursor;
    check(mdb_cursor_open(reader, source, &cursor), "cursor");
    MDB_val key, value;
    long pairs = 0;
    for (int code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST); code == 0; code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) {
        check(mdb_put(writer, target, &key, &value, MDB_APPEND), "put");
        pairs++;
    }
    check(mdb_txn_commit(writer), "commit");
    printf("%ld pairs, %.6f s\n", pairs, (double)(clock() - start) / CLOCKS_PER_SEC);
    return 0;
}
