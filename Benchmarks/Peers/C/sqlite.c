/* P1: C straight on SQLite: kept statements, WAL, 64 MB of cache. What a backend on SQLite can reach at best. */
#include <sqlite3.h>

#include "run.h"

static sqlite3* db;

#define OK(e)                                                                                                                         \
    do {                                                                                                                              \
        int rc_ = (e);                                                                                                                \
        if (rc_ != SQLITE_OK && rc_ != SQLITE_DONE && rc_ != SQLITE_ROW) PB_DIE("%s:%d: %s", __FILE__, __LINE__, sqlite3_errmsg(db)); \
    } while (0)

static void ex(const char* s) { OK(sqlite3_exec(db, s, 0, 0, 0)); }
static sqlite3_stmt* prep(const char* s) {
    sqlite3_stmt* t;
    OK(sqlite3_prepare_v3(db, s, -1, SQLITE_PREPARE_PERSISTENT, &t, 0));
    return t;
}
static void step(sqlite3_stmt* s) {
    OK(sqlite3_step(s));
    OK(sqlite3_reset(s));
}

#define COLUMNS "id, name, email, age, score, isActive, createdAt, notes, departmentID"
#define PERSON                                                                                                     \
    "(id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, age INTEGER NOT NULL, score REAL NOT NULL," \
    " isActive INTEGER NOT NULL, createdAt REAL NOT NULL, notes TEXT NOT NULL, departmentID INTEGER NOT NULL);"
#define INSERT "INSERT INTO person(" COLUMNS ") VALUES(?,?,?,?,?,?,?,?,?)"

static sqlite3_stmt *begin, *commit, *insert, *all, *by_id, *set_age;

static void connect(const char* path) {
    OK(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, 0));
    ex("PRAGMA journal_mode=WAL");
    ex("PRAGMA synchronous=FULL");
    ex("PRAGMA cache_size=-65536");
}
static void open_store(void) {
    if (db) return;
    connect(pb_path);
    ex("CREATE TABLE IF NOT EXISTS department(id INTEGER PRIMARY KEY, name TEXT NOT NULL);"
       "CREATE TABLE IF NOT EXISTS person" PERSON
       "CREATE UNIQUE INDEX IF NOT EXISTS person_email ON person(email);"
       "CREATE INDEX IF NOT EXISTS person_age ON person(age);"
       "CREATE INDEX IF NOT EXISTS person_dept ON person(departmentID);");
    begin = prep("BEGIN IMMEDIATE");
    commit = prep("COMMIT");
    insert = prep(INSERT);
    all = prep("SELECT " COLUMNS " FROM person");
    by_id = prep("SELECT " COLUMNS " FROM person WHERE id=?");
    set_age = prep("UPDATE person SET age=? WHERE id=?");
}
static void close_store(void) {
    for (sqlite3_stmt* s; (s = sqlite3_next_stmt(db, 0));) sqlite3_finalize(s);
    OK(sqlite3_close(db));
    db = 0;
}

static void bind(sqlite3_stmt* s, const pb_person* p) {
    sqlite3_bind_int64(s, 1, p->id);
    sqlite3_bind_text(s, 2, p->name, (int)p->nname, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, p->email, (int)p->nemail, SQLITE_STATIC);
    sqlite3_bind_int64(s, 4, p->age);
    sqlite3_bind_double(s, 5, p->score);
    sqlite3_bind_int64(s, 6, p->active);
    sqlite3_bind_double(s, 7, p->created);
    sqlite3_bind_text(s, 8, p->notes, (int)p->nnotes, SQLITE_STATIC);
    sqlite3_bind_int64(s, 9, p->dept);
}
static char* text(sqlite3_stmt* s, int c, uint32_t* n) {
    const void* t = sqlite3_column_text(s, c);
    *n = (uint32_t)sqlite3_column_bytes(s, c);
    return pb_dup(t, *n);
}
static void row(sqlite3_stmt* s, pb_person* p) {
    p->id = sqlite3_column_int64(s, 0);
    p->name = text(s, 1, &p->nname);
    p->email = text(s, 2, &p->nemail);
    p->age = sqlite3_column_int64(s, 3);
    p->score = sqlite3_column_double(s, 4);
    p->active = sqlite3_column_int(s, 5);
    p->created = sqlite3_column_double(s, 6);
    p->notes = text(s, 7, &p->nnotes);
    p->dept = sqlite3_column_int64(s, 8);
}
static void collect(sqlite3_stmt* s, pb_list* list) {
    while (sqlite3_step(s) == SQLITE_ROW) row(s, pb_list_add(list));
    sqlite3_reset(s);
}
static uint64_t total(uint64_t (*hash)(const pb_person*)) {
    uint64_t h = 0;
    while (sqlite3_step(all) == SQLITE_ROW) {
        pb_person p;
        row(all, &p);
        h += hash(&p);
        pb_free(&p);
    }
    sqlite3_reset(all);
    return h;
}

static void w1(void) {
    pb_person* a = pb_make_many(1, pb_n);
    open_store();
    pb_time t0 = pb_now();
    step(begin);
    for (int64_t i = 0; i < pb_n; i++) {
        bind(insert, &a[i]);
        step(insert);
    }
    step(commit);
    pb_emit("W1", pb_n, t0, pb_now(), 0);
    sqlite3_stmt* d = prep("INSERT INTO department VALUES(?,?)");
    ex("BEGIN");
    for (int64_t i = 1; i <= pb_departments; i++) {
        char* n = pb_dept_name(i);
        sqlite3_bind_int64(d, 1, i);
        sqlite3_bind_text(d, 2, n, -1, SQLITE_TRANSIENT);
        step(d);
        free(n);
    }
    ex("COMMIT");
    close_store();
    /* The persons are left alone: freeing them would be part of nobody's work, and leave holes for the next workload to fill. */
}

static void w1s(void) {
    pb_person* a = pb_make_many(1, pb_n);
    char other[1100];
    snprintf(other, sizeof other, "%s.sorted", pb_path);
    connect(other);
    ex("CREATE TABLE person" PERSON);
    sqlite3_stmt* s = prep(INSERT);
    pb_time t0 = pb_now();
    ex("BEGIN IMMEDIATE");
    for (int64_t i = 0; i < pb_n; i++) {
        bind(s, &a[i]);
        step(s);
    }
    ex("CREATE UNIQUE INDEX person_email ON person(email);"
       "CREATE INDEX person_age ON person(age);"
       "CREATE INDEX person_dept ON person(departmentID);");
    ex("COMMIT");
    pb_emit("W1s", pb_n, t0, pb_now(), "extra: indexes created after the rows");
    close_store();
    unlink(other);
}

static void w2(void) {
    open_store();
    pb_list list = {0};
    pb_time t0 = pb_now();
    collect(all, &list);
    pb_sink = pb_list_quick(&list);
    pb_time t1 = pb_now();
    pb_emit_verify("W2", pb_n, t0, t1, pb_list_full(&list));
    pb_list_free(&list);
}

static uint64_t lookups(int verify) {
    pb_rng r = pb_rng_workload(3);
    uint64_t q = 0;
    step(begin);
    for (int64_t i = 0; i < pb_lookups; i++) {
        sqlite3_bind_int64(by_id, 1, 1 + (int64_t)(pb_next(&r) % (uint64_t)pb_n));
        if (sqlite3_step(by_id) != SQLITE_ROW) PB_DIE("row missing");
        pb_person p;
        row(by_id, &p);
        q += verify ? pb_hash(&p) : pb_quick(&p);
        pb_free(&p);
        sqlite3_reset(by_id);
    }
    step(commit);
    return q;
}
static void w3(void) {
    open_store();
    pb_time t0 = pb_now();
    pb_sink = lookups(0);
    pb_time t1 = pb_now();
    pb_emit_verify("W3", pb_lookups, t0, t1, lookups(1));
}

static uint64_t ranges(sqlite3_stmt* s, int verify) {
    pb_rng r = pb_rng_workload(4);
    uint64_t q = 0;
    step(begin);
    for (int64_t i = 0; i < pb_ranges; i++) {
        pb_person a[PB_LIMIT];
        int n = 0;
        sqlite3_bind_int64(s, 1, (int64_t)(pb_next(&r) % 100));
        while (sqlite3_step(s) == SQLITE_ROW) row(s, &a[n++]);
        sqlite3_reset(s);
        for (int j = 0; j < n; j++) {
            q = verify ? pb_mix(q, pb_hash(&a[j])) : q + pb_quick(&a[j]);
            pb_free(&a[j]);
        }
    }
    step(commit);
    return q;
}
static void w4(void) {
    open_store();
    sqlite3_stmt* s = prep("SELECT " COLUMNS " FROM person WHERE age>=? ORDER BY age, id LIMIT 100");
    pb_time t0 = pb_now();
    pb_sink = ranges(s, 0);
    pb_time t1 = pb_now();
    pb_emit_verify("W4", pb_ranges, t0, t1, ranges(s, 1));
}

static void w5(void) {
    open_store();
    sqlite3_stmt* s = prep("SELECT count(*) FROM person WHERE score>500 AND isActive");
    uint64_t q = 0;
    pb_time t0 = pb_now();
    for (int i = 0; i < PB_SCANS; i++) {
        OK(sqlite3_step(s));
        q += (uint64_t)sqlite3_column_int64(s, 0);
        sqlite3_reset(s);
    }
    pb_emit_check("W5", PB_SCANS, t0, pb_now(), q);
}

static uint64_t groups(sqlite3_stmt* s) {
    uint64_t q = 0;
    for (int i = 0; i < PB_SCANS; i++) {
        while (sqlite3_step(s) == SQLITE_ROW)
            q = pb_group_hash(q, sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1), sqlite3_column_double(s, 2),
                              sqlite3_column_double(s, 3), sqlite3_column_double(s, 4));
        sqlite3_reset(s);
    }
    return q;
}
static void w6(void) {
    open_store();
    sqlite3_stmt* s = prep("SELECT age, count(*), avg(score), min(score), max(score) FROM person GROUP BY age");
    pb_time t0 = pb_now();
    uint64_t q = groups(s);
    pb_emit_check("W6", PB_SCANS, t0, pb_now(), q);
}
static void w6s(void) {
    open_store();
    sqlite3_stmt* s = prep("SELECT +age, count(*), avg(score), min(score), max(score) FROM person GROUP BY +age");
    pb_time t0 = pb_now();
    pb_sink = groups(s);
    pb_emit("W6s", PB_SCANS, t0, pb_now(), "extra: GROUP BY +age, a scan and a sorter instead of the age index");
}
static void w6a(void) {
    open_store();
    sqlite3_stmt* s = prep("SELECT age, score FROM person");
    uint64_t q = 0;
    pb_time t0 = pb_now();
    for (int i = 0; i < PB_SCANS; i++) {
        pb_group g[128] = {0};
        while (sqlite3_step(s) == SQLITE_ROW) pb_group_add(&g[sqlite3_column_int64(s, 0)], sqlite3_column_double(s, 1));
        sqlite3_reset(s);
        q = pb_groups_hash(q, g, 128);
    }
    pb_sink = q;
    pb_emit("W6a", PB_SCANS, t0, pb_now(), "extra: SELECT age, score, and grouped in the program");
}

static void w10(void) {
    open_store();
    sqlite3_stmt* departments = prep("SELECT id, name FROM department");
    sqlite3_stmt* people = prep("SELECT " COLUMNS " FROM person WHERE departmentID=?");
    uint64_t q = 0, ages = 0;
    pb_time t0 = pb_now();
    step(begin);
    while (sqlite3_step(departments) == SQLITE_ROW) {
        q += (uint64_t)sqlite3_column_bytes(departments, 1);
        sqlite3_bind_int64(people, 1, sqlite3_column_int64(departments, 0));
        while (sqlite3_step(people) == SQLITE_ROW) {
            pb_person p;
            row(people, &p);
            q += pb_quick(&p);
            ages += (uint64_t)p.age;
            pb_free(&p);
        }
        sqlite3_reset(people);
    }
    sqlite3_reset(departments);
    step(commit);
    pb_time t1 = pb_now();
    pb_sink = q;
    pb_emit_check("W10", pb_departments, t0, t1, ages);
}

/* As an object layer does it: the row is read whole, changed, and saved. */
static void update_age(int64_t id, int64_t age, int is_difference) {
    sqlite3_bind_int64(by_id, 1, id);
    if (sqlite3_step(by_id) != SQLITE_ROW) PB_DIE("row missing");
    pb_person p;
    row(by_id, &p);
    sqlite3_reset(by_id);
    sqlite3_bind_int64(set_age, 1, is_difference ? p.age + age : age);
    sqlite3_bind_int64(set_age, 2, p.id);
    step(set_age);
    pb_free(&p);
}
static void w7(void) {
    const int64_t* perm = pb_perm();
    open_store();
    pb_time t0 = pb_now();
    step(begin);
    for (int64_t i = 0; i < pb_updates; i++) update_age(perm[pb_n - 1 - i], 1, 1);
    step(commit);
    pb_time t1 = pb_now();
    pb_emit_verify("W7", pb_updates, t0, t1, total(pb_hash));
}
static void w7u(void) {
    const int64_t* perm = pb_perm();
    open_store();
    sqlite3_stmt* s = prep("UPDATE person SET age=age+1 WHERE id=?");
    pb_time t0 = pb_now();
    step(begin);
    for (int64_t i = 0; i < pb_updates; i++) {
        sqlite3_bind_int64(s, 1, perm[pb_n - 1 - i]);
        step(s);
    }
    step(commit);
    pb_emit("W7u", pb_updates, t0, pb_now(), "extra: one UPDATE each, nothing read");
}

static void small(const char* w, int64_t first, int64_t count, const char* note) {
    pb_person* a = pb_make_many(first, count);
    pb_time t0 = pb_now();
    for (int64_t i = 0; i < count; i++) {
        step(begin);
        bind(insert, &a[i]);
        step(insert);
        step(commit);
    }
    pb_emit(w, count, t0, pb_now(), note);
    pb_free_many(a, count);
}
static void w8(void) {
    open_store();
    small("W8", pb_durable_id, pb_durable, "WAL synchronous=FULL");
}
static void w8b(void) {
    open_store();
    ex("PRAGMA synchronous=NORMAL");
    small("W8b", pb_relaxed_id, pb_relaxed, "WAL synchronous=NORMAL");
    ex("PRAGMA synchronous=FULL");
}

static void w9(void) {
    const int64_t* perm = pb_perm();
    open_store();
    sqlite3_stmt* s = prep("DELETE FROM person WHERE id=?");
    pb_time t0 = pb_now();
    step(begin);
    for (int64_t i = 0; i < pb_deletes; i++) {
        sqlite3_bind_int64(s, 1, perm[i]);
        step(s);
    }
    step(commit);
    pb_time t1 = pb_now();
    pb_emit_verify("W9", pb_deletes, t0, t1, total(pb_hash));
}

static void w11(void) {
    pb_person* sources = pb_make_import();
    open_store();
    sqlite3_stmt* s = prep(INSERT " ON CONFLICT(email) DO UPDATE SET age=excluded.age, score=excluded.score, notes=excluded.notes");
    pb_time t0 = pb_now();
    step(begin);
    for (int64_t i = 0; i < pb_imports; i++) {
        bind(s, &sources[i]);
        step(s);
    }
    step(commit);
    pb_time t1 = pb_now();
    pb_emit_verify("W11", pb_imports, t0, t1, total(pb_content));
    pb_free_many(sources, pb_imports);
}

static void w12(void) {
    connect(pb_path);
    sqlite3_stmt* s = prep("SELECT " COLUMNS " FROM person ORDER BY id LIMIT 1");
    if (sqlite3_step(s) != SQLITE_ROW) PB_DIE("no row");
    pb_person p;
    row(s, &p);
    pb_emit_check("W12", 1, pb_main, pb_now(), pb_hash(&p));
    close_store();
}

static void w13(void) {
    pb_change changes[PB_LIST_CHANGES];
    pb_make_changes(changes);
    open_store();
    ex("PRAGMA synchronous=NORMAL");
    sqlite3_stmt* s = prep("SELECT " COLUMNS " FROM person WHERE age<? ORDER BY age, id");
    sqlite3_bind_int64(s, 1, PB_LIST_AGE);
    pb_list list = {0};
    collect(s, &list);
    uint64_t h = pb_list_hash(0, &list);
    pb_time t0 = pb_now();
    for (int i = 0; i < PB_LIST_CHANGES; i++) {
        step(begin);
        update_age(changes[i].id, changes[i].age, 0);
        step(commit);
        pb_list fresh = {0};
        collect(s, &fresh);
        pb_list_free(&list);
        list = fresh;
        h = pb_list_hash(h, &list);
    }
    pb_emit_check("W13", PB_LIST_CHANGES, t0, pb_now(), h);
    pb_list_free(&list);
    ex("PRAGMA synchronous=FULL");
}

static void end(void) {
    open_store();
    if (pb_verify) pb_state(total(pb_content));
}

int main(int argc, char** argv) {
    const pb_workload known[] = {{"W1", w1},   {"W2", w2},   {"W3", w3},   {"W4", w4},   {"W5", w5},   {"W6", w6},   {"W7", w7},
                                 {"W8", w8},   {"W8b", w8b}, {"W9", w9},   {"W10", w10}, {"W11", w11}, {"W12", w12}, {"W13", w13},
                                 {"W1s", w1s}, {"W6s", w6s}, {"W6a", w6a}, {"W7u", w7u}, {"end", end}, {0, 0}};
    return pb_run(argc, argv, "P1", "p1.sqlite", "W1s,W6s,W6a,W7u", known);
}
