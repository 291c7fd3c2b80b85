/* P8: C straight on libpq: prepared statements, binary values, pipelines, COPY. What a backend on PostgreSQL can reach at best.
   PB_POSTGRESQL is the connection string; the tables are in the schema `peer`. */
#include <pthread.h>

#include "pq_person.h"

static void w1(void) {
    pb_person* a = pb_make_many(1, pb_n);
    create();
    pb_time t0 = pb_now();
    run0("begin");
    copy(a, pb_n);
    run0("commit");
    pb_emit("W1", pb_n, t0, pb_now(), "COPY");
    pq_prepare("department", "INSERT INTO peer.department VALUES ($1, $2)");
    run0("begin");
    for (int64_t i = 1; i <= pb_departments; i++) {
        char* n = pb_dept_name(i);
        pq_params d = {.count = 0};
        pq_number(&d, (uint64_t)i);
        pq_bytes(&d, n, strlen(n));
        PQclear(pq_rows("department", &d));
        free(n);
    }
    run0("commit");
}
/* Where COPY begins to win: PB_N rows by either, repeated, each in a transaction and removed again. */
static void w1u(void) {
    int64_t repeats = pb_most(3, 200000 / pb_n);
    pb_person* a = pb_make_many(1, pb_n);
    create();
    pq_prepare("insert_rows", INSERT ROWS);
    for (int by_copy = 0; by_copy < 2; by_copy++) {
        pb_time sum = {0, 0};
        for (int64_t i = 0; i < repeats; i++) {
            pq_run("TRUNCATE peer.person");
            pb_time t0 = pb_now();
            if (by_copy) {
                run0("begin");
                copy(a, pb_n);
                run0("commit");
            } else {
                insert_arrays("insert_rows", a, pb_n);
            }
            pb_time t1 = pb_now();
            sum.wall += t1.wall - t0.wall;
            sum.cpu += t1.cpu - t0.cpu;
        }
        pb_emit(by_copy ? "W1k" : "W1u", pb_n * repeats, (pb_time){0, 0}, sum, by_copy ? "extra: COPY" : "extra: arrays, in one pipeline");
    }
}

static void w2(void) {
    open_store();
    pb_list list = {0};
    pb_time t0 = pb_now();
    collect(pq_rows("all", &none), &list);
    pb_sink = pb_list_quick(&list);
    pb_time t1 = pb_now();
    pb_emit_verify("W2", pb_n, t0, t1, pb_list_full(&list));
    pb_list_free(&list);
}

static void by_id(int64_t id, pb_person* p) {
    pq_params a = {.count = 0};
    pq_number(&a, (uint64_t)id);
    PGresult* r = pq_rows("by_id", &a);
    if (PQntuples(r) != 1) PB_DIE("row missing");
    row(r, 0, p);
    PQclear(r);
}
static uint64_t lookups(int verify) {
    pb_rng r = pb_rng_workload(3);
    uint64_t q = 0;
    run0("snapshot");
    for (int64_t i = 0; i < pb_lookups; i++) {
        pb_person p;
        by_id(1 + (int64_t)(pb_next(&r) % (uint64_t)pb_n), &p);
        q += verify ? pb_hash(&p) : pb_quick(&p);
        pb_free(&p);
    }
    run0("commit");
    return q;
}
static void w3(void) {
    open_store();
    pb_time t0 = pb_now();
    pb_sink = lookups(0);
    pb_time t1 = pb_now();
    pb_emit_verify("W3", pb_lookups, t0, t1, lookups(1));
}

static uint64_t ranges(int verify) {
    pb_rng random = pb_rng_workload(4);
    uint64_t q = 0;
    run0("snapshot");
    for (int64_t i = 0; i < pb_ranges; i++) {
        pq_params a = {.count = 0};
        pq_number(&a, pb_next(&random) % 100);
        PGresult* r = pq_rows("range", &a);
        for (int j = 0; j < PQntuples(r); j++) {
            pb_person p;
            row(r, j, &p);
            q = verify ? pb_mix(q, pb_hash(&p)) : q + pb_quick(&p);
            pb_free(&p);
        }
        PQclear(r);
    }
    run0("commit");
    return q;
}
static void w4(void) {
    open_store();
    pq_prepare("range", "SELECT " COLUMNS " FROM peer.person WHERE age >= $1 ORDER BY age, id LIMIT 100");
    pb_time t0 = pb_now();
    pb_sink = ranges(0);
    pb_time t1 = pb_now();
    pb_emit_verify("W4", pb_ranges, t0, t1, ranges(1));
}

static void w5(void) {
    open_store();
    pq_prepare("count", "SELECT count(*) FROM peer.person WHERE score > 500 AND \"isActive\"");
    uint64_t q = 0;
    pb_time t0 = pb_now();
    for (int i = 0; i < PB_SCANS; i++) {
        PGresult* r = pq_rows("count", &none);
        q += (uint64_t)pq_int(r, 0, 0);
        PQclear(r);
    }
    pb_emit_check("W5", PB_SCANS, t0, pb_now(), q);
}

static void w6(void) {
    open_store();
    pq_prepare("groups", "SELECT age, count(*), avg(score), min(score), max(score) FROM peer.person GROUP BY age ORDER BY age");
    uint64_t q = 0;
    pb_time t0 = pb_now();
    for (int i = 0; i < PB_SCANS; i++) {
        PGresult* r = pq_rows("groups", &none);
        for (int j = 0; j < PQntuples(r); j++)
            q = pb_group_hash(q, pq_int(r, j, 0), pq_int(r, j, 1), pq_real(r, j, 2), pq_real(r, j, 3), pq_real(r, j, 4));
        PQclear(r);
    }
    pb_emit_check("W6", PB_SCANS, t0, pb_now(), q);
}

/* The persons of all departments with one statement, because each costs a round trip. */
static void w10(void) {
    open_store();
    pq_prepare("departments", "SELECT id, name FROM peer.department");
    pq_prepare("members", "SELECT " COLUMNS " FROM peer.person WHERE department = ANY($1::bigint[])");
    uint64_t q = 0, ages = 0;
    pb_time t0 = pb_now();
    run0("snapshot");
    PGresult* d = pq_rows("departments", &none);
    int64_t n = PQntuples(d), *ids = (int64_t*)malloc((size_t)n * 8);
    for (int i = 0; i < n; i++) {
        ids[i] = pq_int(d, i, 0);
        q += (uint64_t)PQgetlength(d, i, 1);
    }
    pq_params a = {.count = 0};
    pq_buffer b = {0};
    bind_ids(&a, &b, ids, n);
    pb_list list = {0};
    collect(pq_rows("members", &a), &list);
    for (size_t i = 0; i < list.count; i++) {
        q += pb_quick(&list.rows[i]);
        ages += (uint64_t)list.rows[i].age;
    }
    PQclear(d);
    run0("commit");
    pb_time t1 = pb_now();
    pb_sink = q;
    pb_emit_check("W10", pb_departments, t0, t1, ages);
}

/* As an object layer does it: the rows are read whole, changed, and saved. */
static void w7(void) {
    const int64_t* perm = pb_perm();
    open_store();
    pq_prepare("set_ages", "UPDATE peer.person AS p SET age = r.age FROM unnest($1::bigint[], $2::bigint[]) AS r(id, age) WHERE p.id = r.id");
    pq_params a = {.count = 0};
    pq_buffer ids = {0}, ages = {0};
    pb_time t0 = pb_now();
    bind_ids(&a, &ids, perm + pb_n - pb_updates, pb_updates);
    run0("begin");
    pb_list list = {0};
    collect(pq_rows("by_ids", &a), &list);
    pq_array(&ids, PQ_INT8, (int64_t)list.count);
    pq_array(&ages, PQ_INT8, (int64_t)list.count);
    for (size_t i = 0; i < list.count; i++) {
        pq_item64(&ids, (uint64_t)list.rows[i].id);
        pq_item64(&ages, (uint64_t)list.rows[i].age + 1);
    }
    a.count = 0;
    pq_bytes(&a, ids.p, ids.n);
    pq_bytes(&a, ages.p, ages.n);
    pq_begin_pipeline();
    pq_queue("set_ages", &a);
    pq_queue("commit", &none);
    pq_finish(2);
    pq_end_pipeline();
    pb_time t1 = pb_now();
    pb_emit_verify("W7", pb_updates, t0, t1, total(pb_hash));
}

/* A statement that is a transaction of its own. */
static void insert_alone(const pb_person* p) {
    pq_params a = {.count = 0};
    bind(&a, p);
    pq_queue("insert", &a);
    pq_finish(1);
}
static void small(const char* w, int64_t first, int64_t count, const char* note) {
    pb_person* a = pb_make_many(first, count);
    pb_time t0 = pb_now();
    pq_begin_pipeline();
    for (int64_t i = 0; i < count; i++) insert_alone(&a[i]);
    pq_end_pipeline();
    pb_emit(w, count, t0, pb_now(), note);
    pb_free_many(a, count);
}
static void w8(void) {
    open_store();
    small("W8", pb_durable_id, pb_durable, "synchronous_commit=on");
}
static void w8b(void) {
    open_store();
    run0("relaxed");
    small("W8b", pb_relaxed_id, pb_relaxed, "synchronous_commit=off");
    run0("durable");
}

/* Connections of their own that commit at the same time: PB_CALLERS of them, in the process PB_PROCESS of several. */
typedef struct {
    pthread_t thread;
    const pb_person* rows;
    int64_t first, count, step;
    pthread_barrier_t *ready, *done;
} writer;

static void* write_rows(void* p) {
    writer* w = (writer*)p;
    PGconn* c = connected();
    PGresult* prepared = PQprepare(c, "insert", INSERT "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)", 0, 0);
    if (PQresultStatus(prepared) != PGRES_COMMAND_OK) PB_DIE("%s", PQerrorMessage(c));
    PQclear(prepared);
    pthread_barrier_wait(w->ready);
    for (int64_t i = w->first; i < w->count; i += w->step) {
        pq_params a = {.count = 0};
        bind(&a, &w->rows[i]);
        PGresult* r = PQexecPrepared(c, "insert", a.count, a.values, a.lengths, a.formats, 1);
        if (PQresultStatus(r) != PGRES_COMMAND_OK) PB_DIE("%s", PQerrorMessage(c));
        PQclear(r);
    }
    pthread_barrier_wait(w->done);
    PQfinish(c);
    return 0;
}
static void w8c(void) {
    int64_t callers = pb_env("PB_CALLERS", 64), count = pb_env("PB_COMMITS", 64 * pb_most(1, pb_least(50, pb_n / 500)));
    const pb_person* rows = pb_make_many(7 * pb_n + 1 + pb_env("PB_PROCESS", 0) * count, count);
    writer* w = (writer*)calloc((size_t)callers, sizeof *w);
    /* The connections are opened before the clock starts, and closed after it. */
    pthread_barrier_t ready, done;
    if (pthread_barrier_init(&ready, 0, (unsigned)callers + 1) || pthread_barrier_init(&done, 0, (unsigned)callers + 1)) PB_DIE("no barrier");
    for (int64_t i = 0; i < callers; i++) {
        w[i] = (writer){.rows = rows, .first = i, .count = count, .step = callers, .ready = &ready, .done = &done};
        if (pthread_create(&w[i].thread, 0, write_rows, &w[i])) PB_DIE("no thread");
    }
    pthread_barrier_wait(&ready);
    pb_time t0 = pb_now();
    pthread_barrier_wait(&done);
    pb_time t1 = pb_now();
    for (int64_t i = 0; i < callers; i++) pthread_join(w[i].thread, 0);
    pb_emit("W8c", count, t0, t1, "synchronous_commit=on, one transaction each");
}

static void w9(void) {
    const int64_t* perm = pb_perm();
    open_store();
    pq_prepare("remove", "DELETE FROM peer.person WHERE id = ANY($1::bigint[])");
    pq_params a = {.count = 0};
    pq_buffer b = {0};
    pb_time t0 = pb_now();
    bind_ids(&a, &b, perm, pb_deletes);
    pq_begin_pipeline();
    pq_queue("begin", &none);
    pq_queue("remove", &a);
    pq_queue("commit", &none);
    pq_finish(3);
    pq_end_pipeline();
    pb_time t1 = pb_now();
    pb_emit_verify("W9", pb_deletes, t0, t1, total(pb_hash));
}

static void w11(void) {
    pb_person* sources = pb_make_import();
    open_store();
    pq_prepare("upsert", INSERT ROWS " ON CONFLICT (email) DO UPDATE SET age = excluded.age, score = excluded.score, notes = excluded.notes");
    pb_time t0 = pb_now();
    insert_arrays("upsert", sources, pb_imports);
    pb_time t1 = pb_now();
    pb_emit_verify("W11", pb_imports, t0, t1, total(pb_content));
    pb_free_many(sources, pb_imports);
}

static void w12(void) {
    pq = connected();
    PGresult* r = pq_ok(PQexecParams(pq, "SELECT " COLUMNS " FROM peer.person ORDER BY id LIMIT 1", 0, 0, 0, 0, 0, 1));
    if (PQntuples(r) != 1) PB_DIE("no row");
    pb_person p;
    row(r, 0, &p);
    pb_emit_check("W12", 1, pb_main, pb_now(), pb_hash(&p));
    PQclear(r);
}

static void w13(void) {
    pb_change changes[PB_LIST_CHANGES];
    pb_make_changes(changes);
    open_store();
    pq_prepare("list", "SELECT " COLUMNS " FROM peer.person WHERE age < $1 ORDER BY age, id");
    pq_params limit = {.count = 0};
    pq_number(&limit, PB_LIST_AGE);
    pb_list list = {0};
    collect(pq_rows("list", &limit), &list);
    run0("relaxed");
    uint64_t h = pb_list_hash(0, &list);
    pb_time t0 = pb_now();
    for (int i = 0; i < PB_LIST_CHANGES; i++) {
        pb_person p;
        by_id(changes[i].id, &p);
        pb_free(&p);
        pq_params a = {.count = 0};
        pq_number(&a, (uint64_t)changes[i].age);
        pq_number(&a, (uint64_t)changes[i].id);
        pq_begin_pipeline();
        pq_queue("set_age", &a);
        pq_finish(1);
        pq_end_pipeline();
        pb_list fresh = {0};
        collect(pq_rows("list", &limit), &fresh);
        pb_list_free(&list);
        list = fresh;
        h = pb_list_hash(h, &list);
    }
    pb_emit_check("W13", PB_LIST_CHANGES, t0, pb_now(), h);
    run0("durable");
    pb_list_free(&list);
}

static void end(void) {
    open_store();
    if (pb_verify) pb_state(total(pb_content));
}

int main(int argc, char** argv) {
    const pb_workload known[] = {{"W1", w1},   {"W2", w2},   {"W3", w3},   {"W4", w4},   {"W5", w5},   {"W6", w6},   {"W7", w7},   {"W8", w8},
                                 {"W8b", w8b}, {"W8c", w8c}, {"W9", w9},   {"W10", w10}, {"W11", w11}, {"W12", w12}, {"W13", w13}, {"W1u", w1u}, {"end", end},
                                 {0, 0}};
    return pb_run(argc, argv, "P8", "p8", "W1u", known);
}
