/* Binary parameters, arrays, rows and pipelines of libpq, for the peer on PostgreSQL. */
#pragma once
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

#include "run.h"

enum { PQ_INT8 = 20, PQ_TEXT = 25, PQ_FLOAT8 = 701, PQ_BOOL = 16, PQ_MOST = 10 };

static PGconn* pq;

/* Bytes in the order of the protocol. */
typedef struct {
    char* p;
    size_t n, room;
} pq_buffer;

static void pq_put(pq_buffer* b, const void* p, size_t n) {
    if (b->n + n > b->room) b->p = (char*)realloc(b->p, b->room = (b->n + n) * 2);
    memcpy(b->p + b->n, p, n);
    b->n += n;
}
static void pq_put16(pq_buffer* b, int v) {
    uint16_t x = __builtin_bswap16((uint16_t)v);
    pq_put(b, &x, 2);
}
static void pq_put32(pq_buffer* b, uint32_t v) {
    v = __builtin_bswap32(v);
    pq_put(b, &v, 4);
}
static void pq_put64(pq_buffer* b, uint64_t v) {
    v = __builtin_bswap64(v);
    pq_put(b, &v, 8);
}
/* A value with its size, as in arrays and copied rows. */
static void pq_item64(pq_buffer* b, uint64_t v) {
    pq_put32(b, 8);
    pq_put64(b, v);
}
static void pq_item(pq_buffer* b, const char* p, uint32_t n) {
    pq_put32(b, n);
    pq_put(b, p, n);
}
static void pq_itembool(pq_buffer* b, int v) {
    char c = v != 0;
    pq_item(b, &c, 1);
}
static void pq_array(pq_buffer* b, Oid type, int64_t count) {
    b->n = 0;
    pq_put32(b, 1);
    pq_put32(b, 0);
    pq_put32(b, type);
    pq_put32(b, (uint32_t)count);
    pq_put32(b, 1);
}

/* Parameters of a statement. */
typedef struct {
    const char* values[PQ_MOST];
    int lengths[PQ_MOST], formats[PQ_MOST], count;
    uint64_t numbers[PQ_MOST];
    char flags[PQ_MOST];
} pq_params;

static void pq_bytes(pq_params* a, const char* p, size_t n) {
    a->values[a->count] = p;
    a->lengths[a->count] = (int)n;
    a->formats[a->count++] = 1;
}
static void pq_number(pq_params* a, uint64_t v) {
    a->numbers[a->count] = __builtin_bswap64(v);
    pq_bytes(a, (const char*)&a->numbers[a->count], 8);
}
static void pq_flag(pq_params* a, int v) {
    a->flags[a->count] = v != 0;
    pq_bytes(a, &a->flags[a->count], 1);
}

static PGresult* pq_ok(PGresult* r) {
    ExecStatusType s = PQresultStatus(r);
    if (s != PGRES_COMMAND_OK && s != PGRES_TUPLES_OK && s != PGRES_PIPELINE_SYNC && s != PGRES_COPY_IN) PB_DIE("%s", PQerrorMessage(pq));
    return r;
}
static void pq_run(const char* sql) { PQclear(pq_ok(PQexec(pq, sql))); }
static void pq_prepare(const char* name, const char* sql) { PQclear(pq_ok(PQprepare(pq, name, sql, 0, 0))); }
/* One statement, one round trip. */
static PGresult* pq_rows(const char* name, const pq_params* a) {
    return pq_ok(PQexecPrepared(pq, name, a->count, a->values, a->lengths, a->formats, 1));
}

/* Pipelines: statements are queued, then sent together. */
static void pq_begin_pipeline(void) {
    if (!PQenterPipelineMode(pq)) PB_DIE("%s", PQerrorMessage(pq));
}
static void pq_queue(const char* name, const pq_params* a) {
    if (!PQsendQueryPrepared(pq, name, a->count, a->values, a->lengths, a->formats, 1)) PB_DIE("%s", PQerrorMessage(pq));
}
static void pq_next(void) {
    PGresult* r = pq_ok(PQgetResult(pq));
    PQclear(r);
    if (PQgetResult(pq)) PB_DIE("more than one result");
}
/* Sends what is queued and reads the results of that many statements. */
static void pq_finish(int statements) {
    if (!PQpipelineSync(pq)) PB_DIE("%s", PQerrorMessage(pq));
    for (int i = 0; i < statements; i++) pq_next();
    PQclear(pq_ok(PQgetResult(pq)));
}
static void pq_end_pipeline(void) {
    if (!PQexitPipelineMode(pq)) PB_DIE("%s", PQerrorMessage(pq));
}

static int64_t pq_int(const PGresult* r, int row, int column) {
    uint64_t v;
    memcpy(&v, PQgetvalue(r, row, column), 8);
    return (int64_t)__builtin_bswap64(v);
}
static double pq_real(const PGresult* r, int row, int column) {
    uint64_t v = (uint64_t)pq_int(r, row, column);
    double d;
    memcpy(&d, &v, 8);
    return d;
}
static char* pq_text(const PGresult* r, int row, int column, uint32_t* n) {
    *n = (uint32_t)PQgetlength(r, row, column);
    return pb_dup(PQgetvalue(r, row, column), *n);
}
