// SQLite's FTS5 on the corpus of the benchmark: builds, commits one document at a time, and queries.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static double cpu(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void run(sqlite3 *database, const char *statement) {
    char *message = NULL;
    if (sqlite3_exec(database, statement, NULL, NULL, &message)) {
        fprintf(stderr, "%s: %s\n", statement, message);
        exit(1);
    }
}

static int ascending(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return difference < 0 ? -1 : difference > 0;
}

static void insert(sqlite3 *database, const char *corpus, long limit, int single) {
    FILE *file = fopen(corpus, "r");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    sqlite3_stmt *statement;
    double *times = calloc(limit + 1, sizeof(double));
    long count = 0;
    double begin = cpu();
    sqlite3_prepare_v2(database, "INSERT INTO t(rowid, body) VALUES (?, ?)", -1, &statement, NULL);
    if (!single) run(database, "BEGIN");
    while (count < limit && (length = getline(&line, &capacity, file)) > 0) {
        double start = single ? cpu() : 0;
        if (single) run(database, "BEGIN");
        sqlite3_bind_int64(statement, 1, count + 1);
        sqlite3_bind_text(statement, 2, line, (int)length - 1, SQLITE_STATIC);
        if (sqlite3_step(statement) != SQLITE_DONE) exit(1);
        sqlite3_reset(statement);
        if (single) run(database, "COMMIT");
        if (single) times[count] = cpu() - start;
        count++;
    }
    if (!single) run(database, "COMMIT");
    sqlite3_finalize(statement);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%s %ld cpu %.2f s, resident %ld MiB", single ? "commits" : "build", count, cpu() - begin, usage.ru_maxrss / 1024);
    if (single) {
        qsort(times, count, sizeof(double), ascending);
        printf(", median %.0f us, p99 %.0f us, max %.0f us", times[count / 2] * 1e6, times[count * 99 / 100] * 1e6, times[count - 1] * 1e6);
    }
    printf("\n");
}

static void query(sqlite3 *database, const char *name, const char *text, int repeats) {
    sqlite3_stmt *statement;
    sqlite3_prepare_v2(database, "SELECT rowid, bm25(t) FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10", -1, &statement, NULL);
    double start = cpu();
    long found = 0;
    for (int index = 0; index < repeats; index++) {
        sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
        while (sqlite3_step(statement) == SQLITE_ROW) found += sqlite3_column_int64(statement, 0);
        sqlite3_reset(statement);
    }
    double best = (cpu() - start) / repeats;
    sqlite3_finalize(statement);
    sqlite3_prepare_v2(database, "SELECT rowid FROM t WHERE t MATCH ?", -1, &statement, NULL);
    start = cpu();
    long count = 0;
    for (int index = 0; index < repeats; index++) {
        sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
        while (sqlite3_step(statement) == SQLITE_ROW) count++;
        sqlite3_reset(statement);
    }
    printf("%s: top 10 %.3f ms, all %.3f ms, %ld documents, check %ld\n", name, best * 1e3, (cpu() - start) / repeats * 1e3, count / repeats, found / repeats);
    sqlite3_finalize(statement);
}

int main(int count, char **arguments) {
    if (count < 5) return 2;
    // fts5 build|commits|queries DATABASE CORPUS DOCUMENTS [OPTIONS | QUERIES...]
    sqlite3 *database;
    if (sqlite3_open(arguments[2], &database)) return 1;
    run(database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536");
    if (!strcmp(arguments[1], "queries")) {
        for (int index = 4; index + 1 < count; index += 2) query(database, arguments[index], arguments[index + 1], 20);
        return 0;
    }
    char statement[256];
    snprintf(statement, sizeof statement, "CREATE VIRTUAL TABLE t USING fts5(body%s)", count > 5 ? arguments[5] : "");
    run(database, statement);
    insert(database, arguments[3], atol(arguments[4]), !strcmp(arguments[1], "commits"));
    return 0;
}
