/* P3: C straight on LevelDB. 'p' id -> packed record; 'e' email -> id; 'a' age, id; 'd' dept, id; 'D' id -> department.
   Bloom filter of 10 bits, 64 MB of cache, everything else as it is by default. */
#include <leveldb/c.h>

#include "packed.h"
#include "run.h"

static leveldb_t* db;
static leveldb_options_t* options;
static leveldb_readoptions_t* reading;
static leveldb_writeoptions_t *synced, *lazy;
static char* err;

#define OK()                                                   \
    do {                                                       \
        if (err) PB_DIE("%s:%d: %s", __FILE__, __LINE__, err); \
    } while (0)

static void open_store(void) {
    if (db) return;
    if (!options) {
        options = leveldb_options_create();
        leveldb_options_set_create_if_missing(options, 1);
        leveldb_options_set_filter_policy(options, leveldb_filterpolicy_create_bloom(10));
        leveldb_options_set_cache(options, leveldb_cache_create_lru(64 << 20));
        reading = leveldb_readoptions_create();
        synced = leveldb_writeoptions_create();
        leveldb_writeoptions_set_sync(synced, 1);
        lazy = leveldb_writeoptions_create();
    }
    db = leveldb_open(options, pb_path, &err);
    OK();
}
static void close_store(void) {
    leveldb_close(db);
    db = 0;
}

static size_t key_id(char* k, char t, int64_t id) {
    k[0] = t;
    pb_be(k + 1, id);
    return 9;
}
static size_t key_two(char* k, char t, int64_t a, int64_t b) {
    k[0] = t;
    pb_be(k + 1, a);
    pb_be(k + 9, b);
    return 17;
}
static size_t key_email(char* k, const char* e, size_t n) {
    k[0] = 'e';
    memcpy(k + 1, e, n);
    return n + 1;
}
/* To be freed; null where there is none. */
static char* get(const char* k, size_t n, size_t* size) {
    char* v = leveldb_get(db, reading, k, n, size, &err);
    OK();
    return v;
}
static char* get_record(int64_t id, size_t* size) {
    char k[9];
    char* v = get(k, key_id(k, 'p', id), size);
    if (!v) PB_DIE("row missing");
    return v;
}

static void put(leveldb_writebatch_t* b, const pb_person* p, int checks) {
    char k[300], buf[512], id[8];
    size_t n = key_email(k, p->email, p->nemail), size;
    pb_be(id, p->id);
    if (checks) { /* unique email and id: there is no put-if-absent */
        char k2[9];
        if (get(k, n, &size)) PB_DIE("duplicate email");
        if (get(k2, key_id(k2, 'p', p->id), &size)) PB_DIE("duplicate id");
    }
    leveldb_writebatch_put(b, k, n, id, 8);
    size = pb_pack(p, buf);
    leveldb_writebatch_put(b, k, key_id(k, 'p', p->id), buf, size);
    leveldb_writebatch_put(b, k, key_two(k, 'a', p->age, p->id), "", 0);
    leveldb_writebatch_put(b, k, key_two(k, 'd', p->dept, p->id), "", 0);
}
static void write_batch(leveldb_writebatch_t* b, leveldb_writeoptions_t* how) {
    leveldb_write(db, how, b, &err);
    OK();
    leveldb_writebatch_destroy(b);
}

static leveldb_iterator_t* iterator(char prefix) {
    leveldb_iterator_t* it = leveldb_create_iterator(db, reading);
    leveldb_iter_seek(it, &prefix, 1);
    return it;
}
static int at(leveldb_iterator_t* it, char prefix, const char** k, const char** v, size_t* nv) {
    size_t nk;
    if (!leveldb_iter_valid(it)) return 0;
    *k = leveldb_iter_key(it, &nk);
    if (**k != prefix) return 0;
    *v = leveldb_iter_value(it, nv);
    return 1;
}
/* The person that an entry of an index leads to. */
static void follow(const char* entry, pb_person* p) {
    char k[9];
    size_t size;
    k[0] = 'p';
    memcpy(k + 1, entry + 9, 8);
    char* record = get(k, 9, &size);
    if (!record) PB_DIE("row missing");
    pb_unpack(pb_unbe(k + 1), record, p);
    leveldb_free(record);
}
static uint64_t total(uint64_t (*hash)(const pb_person*)) {
    uint64_t h = 0;
    const char *k, *v, prefixes[] = "pead";
    size_t nv;
    int64_t counts[4] = {0};
    for (int x = 0; x < 4; x++) {
        leveldb_iterator_t* it = iterator(prefixes[x]);
        for (; at(it, prefixes[x], &k, &v, &nv); leveldb_iter_next(it)) {
            counts[x]++;
            if (x) continue;
            pb_person p;
            pb_unpack(pb_unbe(k + 1), v, &p);
            h += hash(&p);
            pb_free(&p);
        }
        leveldb_iter_destroy(it);
        if (counts[x] != counts[0]) PB_DIE("the indexes disagree");
    }
    return h;
}

static void w1(void) {
    pb_person* a = pb_make_many(1, pb_n);
    open_store();
    pb_time t0 = pb_now();
    leveldb_writebatch_t* b = leveldb_writebatch_create();
    for (int64_t i = 0; i < pb_n; i++) put(b, &a[i], 1);
    write_batch(b, synced);
    pb_emit("W1", pb_n, t0, pb_now(), "one WriteBatch, sync");
    b = leveldb_writebatch_create();
    for (int64_t i = 1; i <= pb_departments; i++) {
        char k[9], *n = pb_dept_name(i);
        leveldb_writebatch_put(b, k, key_id(k, 'D', i), n, strlen(n));
        free(n);
    }
    write_batch(b, synced);
    close_store();
}

static void w2(void) {
    open_store();
    const char *k, *v;
    size_t nv;
    pb_list list = {0};
    pb_time t0 = pb_now();
    leveldb_iterator_t* it = iterator('p');
    for (; at(it, 'p', &k, &v, &nv); leveldb_iter_next(it)) pb_unpack(pb_unbe(k + 1), v, pb_list_add(&list));
    leveldb_iter_destroy(it);
    pb_sink = pb_list_quick(&list);
    pb_time t1 = pb_now();
    pb_emit_verify("W2", pb_n, t0, t1, pb_list_full(&list));
    pb_list_free(&list);
}

static uint64_t lookups(int verify) {
    pb_rng r = pb_rng_workload(3);
    uint64_t q = 0;
    for (int64_t i = 0; i < pb_lookups; i++) {
        size_t size;
        int64_t n = 1 + (int64_t)(pb_next(&r) % (uint64_t)pb_n);
        char* v = get_record(n, &size);
        pb_person p;
        pb_unpack(n, v, &p);
        leveldb_free(v);
        q += verify ? pb_hash(&p) : pb_quick(&p);
        pb_free(&p);
    }
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
    pb_rng r = pb_rng_workload(4);
    uint64_t q = 0;
    leveldb_iterator_t* it = leveldb_create_iterator(db, reading);
    for (int64_t i = 0; i < pb_ranges; i++) {
        pb_person a[PB_LIMIT];
        int n = 0;
        char from[17];
        const char *k, *v;
        size_t nv;
        leveldb_iter_seek(it, from, key_two(from, 'a', (int64_t)(pb_next(&r) % 100), INT64_MIN));
        for (; n < PB_LIMIT && at(it, 'a', &k, &v, &nv); leveldb_iter_next(it)) follow(k, &a[n++]);
        for (int j = 0; j < n; j++) {
            q = verify ? pb_mix(q, pb_hash(&a[j])) : q + pb_quick(&a[j]);
            pb_free(&a[j]);
        }
    }
    leveldb_iter_destroy(it);
    return q;
}
static void w4(void) {
    open_store();
    pb_time t0 = pb_now();
    pb_sink = ranges(0);
    pb_time t1 = pb_now();
    pb_emit_verify("W4", pb_ranges, t0, t1, ranges(1));
}

static void w5(void) {
    open_store();
    const char *k, *v;
    size_t nv;
    uint64_t q = 0;
    pb_time t0 = pb_now();
    for (int i = 0; i < PB_SCANS; i++) {
        leveldb_iterator_t* it = iterator('p');
        for (; at(it, 'p', &k, &v, &nv); leveldb_iter_next(it)) {
            pb_packed r;
            memcpy(&r, v, sizeof r);
            q += r.score > 500 && r.active;
        }
        leveldb_iter_destroy(it);
    }
    pb_emit_check("W5", PB_SCANS, t0, pb_now(), q);
}

static void w6(void) {
    open_store();
    const char *k, *v;
    size_t nv;
    uint64_t q = 0;
    pb_time t0 = pb_now();
    for (int i = 0; i < PB_SCANS; i++) {
        pb_group g[128] = {0};
        leveldb_iterator_t* it = iterator('p');
        for (; at(it, 'p', &k, &v, &nv); leveldb_iter_next(it)) {
            pb_packed r;
            memcpy(&r, v, sizeof r);
            pb_group_add(&g[r.age], r.score);
        }
        leveldb_iter_destroy(it);
        q = pb_groups_hash(q, g, 128);
    }
    pb_emit_check("W6", PB_SCANS, t0, pb_now(), q);
}

static void w10(void) {
    open_store();
    const char *k, *v, *entry, *none;
    size_t nv, n2;
    uint64_t q = 0, ages = 0;
    pb_time t0 = pb_now();
    leveldb_iterator_t *departments = iterator('D'), *it = leveldb_create_iterator(db, reading);
    for (; at(departments, 'D', &k, &v, &nv); leveldb_iter_next(departments)) {
        char from[17];
        q += nv;
        leveldb_iter_seek(it, from, key_two(from, 'd', pb_unbe(k + 1), INT64_MIN));
        for (; at(it, 'd', &entry, &none, &n2) && !memcmp(entry, from, 9); leveldb_iter_next(it)) {
            pb_person p;
            follow(entry, &p);
            q += pb_quick(&p);
            ages += (uint64_t)p.age;
            pb_free(&p);
        }
    }
    leveldb_iter_destroy(departments);
    leveldb_iter_destroy(it);
    pb_time t1 = pb_now();
    pb_sink = q;
    pb_emit_check("W10", pb_departments, t0, t1, ages);
}

static void reindex_age(leveldb_writebatch_t* b, int64_t id, int64_t old, int64_t new) {
    char k[17];
    leveldb_writebatch_delete(b, k, key_two(k, 'a', old, id));
    leveldb_writebatch_put(b, k, key_two(k, 'a', new, id), "", 0);
}
static void update_age(leveldb_writebatch_t* b, int64_t id, int64_t age, int is_difference) {
    size_t size;
    char k[9], *v = get_record(id, &size);
    pb_packed r;
    memcpy(&r, v, sizeof r);
    int64_t old = r.age;
    r.age = is_difference ? old + age : age;
    memcpy(v, &r, sizeof r);
    if (r.age != old) {
        leveldb_writebatch_put(b, k, key_id(k, 'p', id), v, size);
        reindex_age(b, id, old, r.age);
    }
    leveldb_free(v);
}
static void w7(void) {
    const int64_t* perm = pb_perm();
    open_store();
    pb_time t0 = pb_now();
    leveldb_writebatch_t* b = leveldb_writebatch_create();
    for (int64_t i = 0; i < pb_updates; i++) update_age(b, perm[pb_n - 1 - i], 1, 1);
    write_batch(b, synced);
    pb_time t1 = pb_now();
    pb_emit_verify("W7", pb_updates, t0, t1, total(pb_hash));
}

static void small(const char* w, int64_t first, int64_t count, leveldb_writeoptions_t* how, const char* note) {
    pb_person* a = pb_make_many(first, count);
    pb_time t0 = pb_now();
    leveldb_writebatch_t* b = leveldb_writebatch_create();
    for (int64_t i = 0; i < count; i++) {
        put(b, &a[i], 1);
        leveldb_write(db, how, b, &err);
        OK();
        leveldb_writebatch_clear(b);
    }
    leveldb_writebatch_destroy(b);
    pb_emit(w, count, t0, pb_now(), note);
    pb_free_many(a, count);
}
static void w8(void) {
    open_store();
    small("W8", pb_durable_id, pb_durable, synced, "sync=true");
}
static void w8b(void) {
    open_store();
    small("W8b", pb_relaxed_id, pb_relaxed, lazy, "sync=false");
}

static void w9(void) {
    const int64_t* perm = pb_perm();
    open_store();
    pb_time t0 = pb_now();
    leveldb_writebatch_t* b = leveldb_writebatch_create();
    for (int64_t i = 0; i < pb_deletes; i++) {
        char k[300];
        size_t size;
        char* v = get_record(perm[i], &size);
        pb_packed r;
        memcpy(&r, v, sizeof r);
        leveldb_writebatch_delete(b, k, key_id(k, 'p', perm[i]));
        leveldb_writebatch_delete(b, k, key_email(k, v + sizeof r + r.nname, r.nemail));
        leveldb_writebatch_delete(b, k, key_two(k, 'a', r.age, perm[i]));
        leveldb_writebatch_delete(b, k, key_two(k, 'd', r.dept, perm[i]));
        leveldb_free(v);
    }
    write_batch(b, synced);
    pb_time t1 = pb_now();
    pb_emit_verify("W9", pb_deletes, t0, t1, total(pb_hash));
}

static void w11(void) {
    pb_person* sources = pb_make_import();
    open_store();
    pb_time t0 = pb_now();
    leveldb_writebatch_t* b = leveldb_writebatch_create();
    for (int64_t i = 0; i < pb_imports; i++) {
        char k[300], new[512];
        size_t size;
        char* found = get(k, key_email(k, sources[i].email, sources[i].nemail), &size);
        if (!found) {
            put(b, &sources[i], 0);
            continue;
        }
        int64_t id = pb_unbe(found);
        leveldb_free(found);
        char* old = get_record(id, &size);
        pb_person p = pb_merged(&sources[i], id, old);
        int64_t age = ((pb_packed*)old)->age;
        size = pb_pack(&p, new);
        leveldb_free(old);
        leveldb_writebatch_put(b, k, key_id(k, 'p', id), new, size);
        if (p.age != age) reindex_age(b, id, age, p.age);
    }
    write_batch(b, synced);
    pb_time t1 = pb_now();
    pb_emit_verify("W11", pb_imports, t0, t1, total(pb_content));
    pb_free_many(sources, pb_imports);
}

static void w12(void) {
    const char *k, *v;
    size_t nv;
    pb_person p;
    open_store();
    leveldb_iterator_t* it = iterator('p');
    if (!at(it, 'p', &k, &v, &nv)) PB_DIE("no row");
    pb_unpack(pb_unbe(k + 1), v, &p);
    pb_emit_check("W12", 1, pb_main, pb_now(), pb_hash(&p));
    leveldb_iter_destroy(it);
    close_store();
}

static void fetch_list(pb_list* list) {
    const char *k, *v;
    size_t nv;
    leveldb_iterator_t* it = iterator('a');
    for (; at(it, 'a', &k, &v, &nv) && pb_unbe(k + 1) < PB_LIST_AGE; leveldb_iter_next(it)) follow(k, pb_list_add(list));
    leveldb_iter_destroy(it);
}
static void w13(void) {
    pb_change changes[PB_LIST_CHANGES];
    pb_make_changes(changes);
    open_store();
    pb_list list = {0};
    fetch_list(&list);
    uint64_t h = pb_list_hash(0, &list);
    pb_time t0 = pb_now();
    for (int i = 0; i < PB_LIST_CHANGES; i++) {
        leveldb_writebatch_t* b = leveldb_writebatch_create();
        update_age(b, changes[i].id, changes[i].age, 0);
        write_batch(b, lazy);
        pb_list fresh = {0};
        fetch_list(&fresh);
        pb_list_free(&list);
        list = fresh;
        h = pb_list_hash(h, &list);
    }
    pb_emit_check("W13", PB_LIST_CHANGES, t0, pb_now(), h);
    pb_list_free(&list);
}

static void w1r(void) {
    open_store();
    close_store();
    pb_time t0 = pb_now();
    open_store();
    pb_emit("W1r", 1, t0, pb_now(), "extra: open again");
}
static void w0c(void) {
    open_store();
    pb_time t0 = pb_now();
    leveldb_compact_range(db, 0, 0, 0, 0);
    pb_emit("W0c", 1, t0, pb_now(), "extra: full compaction");
}

static void end(void) {
    open_store();
    if (pb_verify) pb_state(total(pb_content));
}

int main(int argc, char** argv) {
    const pb_workload known[] = {{"W1", w1},   {"W2", w2},   {"W3", w3},   {"W4", w4},   {"W5", w5},   {"W6", w6},
                                 {"W7", w7},   {"W8", w8},   {"W8b", w8b}, {"W9", w9},   {"W10", w10}, {"W11", w11},
                                 {"W12", w12}, {"W13", w13}, {"W1r", w1r}, {"W0c", w0c}, {"end", end}, {0, 0}};
    return pb_run(argc, argv, "P3", "p3.leveldb", "W1r,W0c", known);
}
