/* The data set: how much of everything, the random numbers, the persons. The same as in PeerKit. */
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lists.h"

enum { PB_LIMIT = 100, PB_SCANS = 10, PB_LIST_CHANGES = 100, PB_LIST_AGE = 10 };

/* All follows from the number of persons, PB_N. Ids of the generator for persons that come later lie above it. */
static int64_t pb_n, pb_departments, pb_lookups, pb_ranges, pb_updates, pb_deletes, pb_durable, pb_relaxed, pb_imports;
static int64_t pb_import_id, pb_imported_id, pb_durable_id, pb_relaxed_id, pb_relaxed2_id, pb_source_id;

static int64_t pb_least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t pb_most(int64_t a, int64_t b) { return a > b ? a : b; }

static void pb_sizes(void) {
    const char* n = getenv("PB_N");
    pb_n = n && atoll(n) > 0 ? atoll(n) : 100000;
    pb_departments = pb_ranges = pb_most(1, pb_n / 100);
    pb_lookups = pb_imports = pb_n;
    pb_updates = pb_deletes = pb_n / 10;
    pb_durable = pb_least(500, pb_n / 10);
    pb_relaxed = pb_least(5000, pb_n / 2);
    pb_import_id = pb_n + 1;
    pb_imported_id = 2 * pb_n + 1;
    pb_durable_id = 3 * pb_n + 1;
    pb_relaxed_id = 4 * pb_n + 1;
    pb_relaxed2_id = 5 * pb_n + 1;
    pb_source_id = 6 * pb_n + 1;
}

/* splitmix64 */
#define PB_GAMMA 0x9E3779B97F4A7C15ull
typedef struct {
    uint64_t s;
} pb_rng;

static inline uint64_t pb_next(pb_rng* r) {
    uint64_t z = (r->s += PB_GAMMA);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}
/* Person `id` owns the draws 64 * id up to 64 * id + 63 of the stream with seed 42, so that any person can be made on its own. */
static inline pb_rng pb_rng_person(int64_t id) { return (pb_rng){42 + (uint64_t)id * 64 * PB_GAMMA}; }
static inline pb_rng pb_rng_workload(int w) { return (pb_rng){42 + (uint64_t)w * 1000003}; }
static inline double pb_unit(pb_rng* r) { return (double)(pb_next(r) >> 11) * 0x1p-53; }

typedef struct {
    int64_t id, age, dept;
    double score, created;
    char *name, *email, *notes;
    uint32_t nname, nemail, nnotes;
    int active;
} pb_person;

static inline char* pb_dup(const void* p, size_t n) {
    char* s = (char*)malloc(n + 1);
    memcpy(s, p, n);
    s[n] = 0;
    return s;
}
static inline void pb_free(pb_person* p) {
    free(p->name);
    free(p->email);
    free(p->notes);
}

static void pb_make(int64_t id, pb_person* p) {
    pb_rng r = pb_rng_person(id);
    char buf[256], low[64];
    const char *f = PB_FIRST[pb_next(&r) % 100], *l = PB_LAST[pb_next(&r) % 100];
    p->id = id;
    p->nname = (uint32_t)snprintf(buf, sizeof buf, "%s %s", f, l);
    p->name = pb_dup(buf, p->nname);
    int n = snprintf(low, sizeof low, "%s%s", f, l);
    for (int i = 0; i < n; i++)
        if (low[i] >= 'A' && low[i] <= 'Z') low[i] += 32;
    p->nemail = (uint32_t)snprintf(buf, sizeof buf, "%s%lld@example%d.com", low, (long long)id, (int)(pb_next(&r) % 10));
    p->email = pb_dup(buf, p->nemail);
    p->age = (int64_t)(pb_next(&r) % 100);
    p->score = pb_unit(&r) * 1000.0;
    p->active = (int)(pb_next(&r) & 1);
    /* A multiple of 1/8 s, so that it survives a text format with milliseconds. */
    p->created = 600000000.0 + (double)(pb_next(&r) % 1600000000ull) / 8.0;
    p->dept = 1 + (int64_t)(pb_next(&r) % (uint64_t)pb_departments);
    uint32_t want = 80 + (uint32_t)(pb_next(&r) % 41), len = 0;
    for (;;) { /* One word in ten is not ASCII. */
        uint64_t d = pb_next(&r);
        const char* w = d % 10 == 0 ? PB_UNI[(d >> 8) % 16] : PB_WORDS[(d >> 8) % 100];
        uint32_t wl = (uint32_t)strlen(w);
        if (len + wl + 1 > want) break;
        memcpy(buf + len, w, wl);
        buf[len + wl] = ' ';
        len += wl + 1;
    }
    while (len < want) buf[len++] = '.';
    p->notes = pb_dup(buf, len);
    p->nnotes = len;
}

static pb_person* pb_make_many(int64_t first, int64_t count) {
    pb_person* a = (pb_person*)malloc(sizeof *a * (size_t)count);
    for (int64_t i = 0; i < count; i++) pb_make(first + i, &a[i]);
    return a;
}
static void pb_free_many(pb_person* a, int64_t count) {
    for (int64_t i = 0; i < count; i++) pb_free(&a[i]);
    free(a);
}

/* The ids 1 to n shuffled: the first `deletes` are W9's, the next `imports / 2` the existing half of W11, the last `updates` W7's. */
static const int64_t* pb_perm(void) {
    static int64_t* a;
    if (a) return a;
    a = (int64_t*)malloc(sizeof *a * (size_t)pb_n);
    pb_rng r = pb_rng_workload(9);
    for (int64_t i = 0; i < pb_n; i++) a[i] = i + 1;
    for (int64_t i = pb_n - 1; i > 0; i--) {
        int64_t j = (int64_t)(pb_next(&r) % (uint64_t)(i + 1)), t = a[i];
        a[i] = a[j];
        a[j] = t;
    }
    return a;
}

/* What W11 brings in. Even: an email that exists, with new age, score and notes; odd: a new person. */
static pb_person* pb_make_import(void) {
    const int64_t* perm = pb_perm();
    pb_person* a = (pb_person*)malloc(sizeof *a * (size_t)pb_imports);
    for (int64_t i = 0; i < pb_imports; i++) {
        if (i & 1) {
            pb_make(pb_import_id + i / 2, &a[i]);
            continue;
        }
        pb_person e;
        pb_make(perm[pb_deletes + i / 2], &e);
        pb_make(pb_source_id + i, &a[i]);
        free(a[i].email);
        a[i].email = e.email;
        a[i].nemail = e.nemail;
        a[i].id = pb_imported_id + i / 2; /* the id it would get if it were new; not used, as it exists */
        free(e.name);
        free(e.notes);
    }
    return a;
}

/* The changes of W13: whose age becomes what. The second half takes back the first, so that the store ends as it was. */
typedef struct {
    int64_t id, age;
} pb_change;

static void pb_make_changes(pb_change* a) {
    const int64_t* perm = pb_perm();
    pb_rng r = pb_rng_workload(13);
    for (int i = 0; i < PB_LIST_CHANGES / 2; i++) {
        pb_person p;
        pb_make(perm[i], &p);
        a[i] = (pb_change){perm[i], (int64_t)(pb_next(&r) % (2 * PB_LIST_AGE))};
        a[PB_LIST_CHANGES / 2 + i] = (pb_change){perm[i], p.age};
        pb_free(&p);
    }
}

static char* pb_dept_name(int64_t id) {
    char b[64];
    return pb_dup(b, (size_t)snprintf(b, sizeof b, "Department %lld", (long long)id));
}

static inline void pb_unused_data(void) {
    (void)pb_free_many;
    (void)pb_make_import;
    (void)pb_make_many;
    (void)pb_dept_name;
    (void)pb_make_changes;
}
