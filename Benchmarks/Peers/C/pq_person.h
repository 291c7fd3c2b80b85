/* The tables of the peer on PostgreSQL, and persons as parameters, arrays and copied rows. PB_POSTGRESQL is the connection string; the tables are in the schema `peer`. */
#pragma once
#include "libpq.h"

#define COLUMNS "id, name, email, age, score, \"isActive\", \"createdAt\", notes, department"
#define INSERT "INSERT INTO peer.person (" COLUMNS ") "
#define ROWS \
    "SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::float8[], $6::boolean[], $7::float8[], $8::text[], $9::bigint[])"
#define PORTION 20000

static const pq_params none;

static PGconn* connected(void) {
    const char* to = getenv("PB_POSTGRESQL");
    PGconn* c = PQconnectdb(to ? to : "");
    if (PQstatus(c) != CONNECTION_OK) PB_DIE("%s", PQerrorMessage(c));
    return c;
}
static void open_store(void) {
    if (pq) return;
    pq = connected();
    pq_prepare("begin", "BEGIN");
    pq_prepare("snapshot", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    pq_prepare("commit", "COMMIT");
    pq_prepare("relaxed", "SET synchronous_commit = off");
    pq_prepare("durable", "SET synchronous_commit = on");
    pq_prepare("insert", INSERT "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)");
    pq_prepare("all", "SELECT " COLUMNS " FROM peer.person");
    pq_prepare("by_id", "SELECT " COLUMNS " FROM peer.person WHERE id = $1");
    pq_prepare("by_ids", "SELECT " COLUMNS " FROM peer.person WHERE id = ANY($1::bigint[])");
    pq_prepare("set_age", "UPDATE peer.person SET age = $1 WHERE id = $2");
}
static int64_t pb_env(const char* name, int64_t otherwise) {
    const char* v = getenv(name);
    return v && atoll(v) >= 0 ? atoll(v) : otherwise;
}
static void run0(const char* name) { PQclear(pq_rows(name, &none)); }

static void create(void) {
    pq = connected();
    pq_run("SET client_min_messages = warning");
    pq_run("DROP SCHEMA IF EXISTS peer CASCADE");
    pq_run("CREATE SCHEMA peer");
    pq_run("CREATE TABLE peer.department (id bigint PRIMARY KEY, name text COLLATE \"C\" NOT NULL)");
    pq_run("CREATE TABLE peer.person (id bigint PRIMARY KEY, name text COLLATE \"C\" NOT NULL, email text COLLATE \"C\" NOT NULL UNIQUE,"
           " age bigint NOT NULL, score float8 NOT NULL, \"isActive\" boolean NOT NULL, \"createdAt\" float8 NOT NULL,"
           " notes text COLLATE \"C\" NOT NULL, department bigint NOT NULL)");
    pq_run("CREATE INDEX ON peer.person (age, id)");
    pq_run("CREATE INDEX ON peer.person (department, id)");
    PQfinish(pq);
    pq = 0;
    open_store();
}

static void row(const PGresult* r, int i, pb_person* p) {
    p->id = pq_int(r, i, 0);
    p->name = pq_text(r, i, 1, &p->nname);
    p->email = pq_text(r, i, 2, &p->nemail);
    p->age = pq_int(r, i, 3);
    p->score = pq_real(r, i, 4);
    p->active = *PQgetvalue(r, i, 5);
    p->created = pq_real(r, i, 6);
    p->notes = pq_text(r, i, 7, &p->nnotes);
    p->dept = pq_int(r, i, 8);
}
static void collect(PGresult* r, pb_list* list) {
    for (int i = 0; i < PQntuples(r); i++) row(r, i, pb_list_add(list));
    PQclear(r);
}
static uint64_t total(uint64_t (*hash)(const pb_person*)) {
    uint64_t h = 0;
    pb_list list = {0};
    collect(pq_rows("all", &none), &list);
    for (size_t i = 0; i < list.count; i++) h += hash(&list.rows[i]);
    pb_list_free(&list);
    return h;
}
static void bind(pq_params* a, const pb_person* p) {
    a->count = 0;
    pq_number(a, (uint64_t)p->id);
    pq_bytes(a, p->name, p->nname);
    pq_bytes(a, p->email, p->nemail);
    pq_number(a, (uint64_t)p->age);
    pq_number(a, pb_bits(p->score));
    pq_flag(a, p->active);
    pq_number(a, pb_bits(p->created));
    pq_bytes(a, p->notes, p->nnotes);
    pq_number(a, (uint64_t)p->dept);
}
/* Persons as arrays, for ROWS. */
static void bind_many(pq_params* a, pq_buffer* b, const pb_person* p, int64_t n) {
    const Oid types[9] = {PQ_INT8, PQ_TEXT, PQ_TEXT, PQ_INT8, PQ_FLOAT8, PQ_BOOL, PQ_FLOAT8, PQ_TEXT, PQ_INT8};
    for (int c = 0; c < 9; c++) pq_array(&b[c], types[c], n);
    for (int64_t i = 0; i < n; i++) {
        pq_item64(&b[0], (uint64_t)p[i].id);
        pq_item(&b[1], p[i].name, p[i].nname);
        pq_item(&b[2], p[i].email, p[i].nemail);
        pq_item64(&b[3], (uint64_t)p[i].age);
        pq_item64(&b[4], pb_bits(p[i].score));
        pq_itembool(&b[5], p[i].active);
        pq_item64(&b[6], pb_bits(p[i].created));
        pq_item(&b[7], p[i].notes, p[i].nnotes);
        pq_item64(&b[8], (uint64_t)p[i].dept);
    }
    a->count = 0;
    for (int c = 0; c < 9; c++) pq_bytes(a, b[c].p, b[c].n);
}
static void bind_ids(pq_params* a, pq_buffer* b, const int64_t* ids, int64_t n) {
    pq_array(b, PQ_INT8, n);
    for (int64_t i = 0; i < n; i++) pq_item64(b, (uint64_t)ids[i]);
    a->count = 0;
    pq_bytes(a, b->p, b->n);
}

static void put_copied(pq_buffer* b) {
    if (PQputCopyData(pq, b->p, (int)b->n) != 1) PB_DIE("%s", PQerrorMessage(pq));
    b->n = 0;
}
static void copy(const pb_person* a, int64_t n) {
    pq_run("COPY peer.person (" COLUMNS ") FROM STDIN (FORMAT binary)");
    pq_buffer b = {0};
    pq_put(&b, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
    for (int64_t i = 0; i < n; i++) {
        const pb_person* p = &a[i];
        pq_put16(&b, 9);
        pq_item64(&b, (uint64_t)p->id);
        pq_item(&b, p->name, p->nname);
        pq_item(&b, p->email, p->nemail);
        pq_item64(&b, (uint64_t)p->age);
        pq_item64(&b, pb_bits(p->score));
        pq_itembool(&b, p->active);
        pq_item64(&b, pb_bits(p->created));
        pq_item(&b, p->notes, p->nnotes);
        pq_item64(&b, (uint64_t)p->dept);
        if (b.n > 65536) put_copied(&b);
    }
    pq_put16(&b, -1);
    put_copied(&b);
    if (PQputCopyEnd(pq, 0) != 1) PB_DIE("%s", PQerrorMessage(pq));
    PQclear(pq_ok(PQgetResult(pq)));
    if (PQgetResult(pq)) PB_DIE("more than one result");
    free(b.p);
}
/* Statements of arrays, in one pipeline with BEGIN and COMMIT. */
static void insert_arrays(const char* statement, const pb_person* p, int64_t n) {
    pq_params a = {.count = 0};
    pq_buffer b[9] = {{0}};
    int count = 2;
    pq_begin_pipeline();
    pq_queue("begin", &none);
    for (int64_t i = 0; i < n; i += PORTION, count++) {
        bind_many(&a, b, p + i, pb_least(PORTION, n - i));
        pq_queue(statement, &a);
    }
    pq_queue("commit", &none);
    pq_finish(count);
    pq_end_pipeline();
    for (int c = 0; c < 9; c++) free(b[c].p);
}
