/* P2: C straight on LMDB. "person": id -> packed record; "email": email -> id; "age": age, id -> ""; "dept": dept, id -> "". */
#include <lmdb.h>

#include "packed.h"
#include "run.h"

static MDB_env* env;
static MDB_dbi people, emails, ages, depts, departments;
static MDB_txn* txn;

#define OK(e)                                                                \
    do {                                                                     \
        int rc_ = (e);                                                       \
        if (rc_) PB_DIE("%s:%d: %s", __FILE__, __LINE__, mdb_strerror(rc_)); \
    } while (0)

static void begin(unsigned flags) { OK(mdb_txn_begin(env, 0, flags, &txn)); }
static void commit(void) { OK(mdb_txn_commit(txn)); }
static MDB_cursor* cursor(MDB_dbi dbi) {
    MDB_cursor* c;
    OK(mdb_cursor_open(txn, dbi, &c));
    return c;
}

static void open_env(const char* path) {
    OK(mdb_env_create(&env));
    OK(mdb_env_set_mapsize(env, (size_t)8 << 30));
    OK(mdb_env_set_maxdbs(env, 8));
    OK(mdb_env_open(env, path, MDB_NOSUBDIR, 0644));
}
static void open_path(const char* path) {
    open_env(path);
    begin(0);
    OK(mdb_dbi_open(txn, "person", MDB_CREATE, &people));
    OK(mdb_dbi_open(txn, "email", MDB_CREATE, &emails));
    OK(mdb_dbi_open(txn, "age", MDB_CREATE, &ages));
    OK(mdb_dbi_open(txn, "dept", MDB_CREATE, &depts));
    OK(mdb_dbi_open(txn, "department", MDB_CREATE, &departments));
    commit();
}
static void open_store(void) {
    if (!env) open_path(pb_path);
}
static void close_store(void) {
    mdb_env_close(env);
    env = 0;
}

static MDB_val val(const void* p, size_t n) { return (MDB_val){n, (void*)p}; }
static void two(char* k, int64_t a, int64_t b) {
    pb_be(k, a);
    pb_be(k + 8, b);
}

static void insert(const pb_person* p, unsigned flags) {
    char id[8], k[16], buf[512];
    pb_be(id, p->id);
    MDB_val e = val(p->email, p->nemail), x = val(id, 8), none = val("", 0);
    OK(mdb_put(txn, emails, &e, &x, MDB_NOOVERWRITE)); /* unique */
    MDB_val rec = val(buf, pb_pack(p, buf)), vid = val(id, 8);
    OK(mdb_put(txn, people, &vid, &rec, flags));
    two(k, p->age, p->id);
    MDB_val key = val(k, 16);
    OK(mdb_put(txn, ages, &key, &none, 0));
    two(k, p->dept, p->id);
    none = val("", 0);
    OK(mdb_put(txn, depts, &key, &none, 0));
}
static void get(int64_t n, MDB_val* v) {
    char id[8];
    pb_be(id, n);
    MDB_val k = val(id, 8);
    OK(mdb_get(txn, people, &k, v));
}
/* The person that an entry of an index leads to; its key ends with the id. */
static void follow(const MDB_val* entry, pb_person* p) {
    MDB_val id = val((char*)entry->mv_data + 8, 8), rec;
    OK(mdb_get(txn, people, &id, &rec));
    pb_unpack(pb_unbe(id.mv_data), rec.mv_data, p);
}
static uint64_t total(uint64_t (*hash)(const pb_person*)) {
    MDB_val k, v;
    uint64_t h = 0;
    begin(MDB_RDONLY);
    MDB_cursor* c = cursor(people);
    while (!mdb_cursor_get(c, &k, &v, MDB_NEXT)) {
        pb_person p;
        pb_unpack(pb_unbe(k.mv_data), v.mv_data, &p);
        h += hash(&p);
        pb_free(&p);
    }
    MDB_stat a, b, d, e;
    mdb_stat(txn, people, &a);
    mdb_stat(txn, emails, &b);
    mdb_stat(txn, ages, &d);
    mdb_stat(txn, depts, &e);
    if (a.ms_entries != b.ms_entries || a.ms_entries != d.ms_entries || a.ms_entries != e.ms_entries) PB_DIE("the indexes disagree");
    mdb_cursor_close(c);
    mdb_txn_abort(txn);
    return h;
}

static void w1(void) {
    pb_person* a = pb_make_many(1, pb_n);
    open_store();
    pb_time t0 = pb_now();
    begin(0);
    for (int64_t i = 0; i < pb_n; i++) insert(&a[i], MDB_APPEND);
    commit();
    pb_emit("W1", pb_n, t0, pb_now(), 0);
    begin(0);
    for (int64_t i = 1; i <= pb_departments; i++) {
        char id[8], *n = pb_dept_name(i);
        pb_be(id, i);
        MDB_val k = val(id, 8), v = val(n, strlen(n));
        OK(mdb_put(txn, departments, &k, &v, MDB_APPEND));
        free(n);
    }
    commit();
    close_store();
}

static int compare_keys(const void* a, const void* b) { return memcmp(a, b, 16); }
static int compare_emails(const void* a, const void* b) {
    const pb_person *x = *(pb_person* const*)a, *y = *(pb_person* const*)b;
    uint32_t n = x->nemail < y->nemail ? x->nemail : y->nemail;
    int c = memcmp(x->email, y->email, n);
    return c ? c : (int)x->nemail - (int)y->nemail;
}
static void w1s(void) {
    pb_person* a = pb_make_many(1, pb_n);
    char other[1100];
    snprintf(other, sizeof other, "%s.sorted", pb_path);
    open_path(other);
    pb_time t0 = pb_now();
    begin(0);
    size_t n = (size_t)pb_n;
    char *ka = malloc(16 * n), *kd = malloc(16 * n), buf[512], id[8];
    const pb_person** pe = malloc(sizeof *pe * n);
    for (size_t i = 0; i < n; i++) {
        pb_be(id, a[i].id);
        MDB_val k = val(id, 8), v = val(buf, pb_pack(&a[i], buf));
        OK(mdb_put(txn, people, &k, &v, MDB_APPEND));
        two(ka + 16 * i, a[i].age, a[i].id);
        two(kd + 16 * i, a[i].dept, a[i].id);
        pe[i] = &a[i];
    }
    qsort(ka, n, 16, compare_keys);
    qsort(kd, n, 16, compare_keys);
    qsort(pe, n, sizeof *pe, compare_emails);
    for (size_t i = 0; i < n; i++) {
        MDB_val k = val(ka + 16 * i, 16), v = val("", 0);
        OK(mdb_put(txn, ages, &k, &v, MDB_APPEND));
        k = val(kd + 16 * i, 16);
        v = val("", 0);
        OK(mdb_put(txn, depts, &k, &v, MDB_APPEND));
        pb_be(id, pe[i]->id);
        k = val(pe[i]->email, pe[i]->nemail);
        v = val(id, 8);
        OK(mdb_put(txn, emails, &k, &v, MDB_APPEND));
    }
    commit();
    pb_emit("W1s", pb_n, t0, pb_now(), "extra: indexes sorted, MDB_APPEND");
    close_store();
    unlink(other);
    strcat(other, "-lock");
    unlink(other);
}

static void w2(void) {
    open_store();
    MDB_val k, v;
    pb_list list = {0};
    pb_time t0 = pb_now();
    begin(MDB_RDONLY);
    MDB_cursor* c = cursor(people);
    while (!mdb_cursor_get(c, &k, &v, MDB_NEXT)) pb_unpack(pb_unbe(k.mv_data), v.mv_data, pb_list_add(&list));
    pb_sink = pb_list_quick(&list);
    pb_time t1 = pb_now();
    mdb_cursor_close(c);
    mdb_txn_abort(txn);
    pb_emit_verify("W2", pb_n, t0, t1, pb_list_full(&list));
    pb_list_free(&list);
}

static uint64_t lookups(int verify) {
    pb_rng r = pb_rng_workload(3);
    uint64_t q = 0;
    begin(MDB_RDONLY);
    for (int64_t i = 0; i < pb_lookups; i++) {
        int64_t n = 1 + (int64_t)(pb_next(&r) % (uint64_t)pb_n);
        MDB_val v;
        get(n, &v);
        pb_person p;
        pb_unpack(n, v.mv_data, &p);
        q += verify ? pb_hash(&p) : pb_quick(&p);
        pb_free(&p);
    }
    mdb_txn_abort(txn);
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
    begin(MDB_RDONLY);
    MDB_cursor* c = cursor(ages);
    for (int64_t i = 0; i < pb_ranges; i++) {
        pb_person a[PB_LIMIT];
        int n = 0;
        char kb[16];
        two(kb, (int64_t)(pb_next(&r) % 100), INT64_MIN);
        MDB_val k = val(kb, 16), v;
        for (int rc = mdb_cursor_get(c, &k, &v, MDB_SET_RANGE); !rc && n < PB_LIMIT; rc = mdb_cursor_get(c, &k, &v, MDB_NEXT))
            follow(&k, &a[n++]);
        for (int j = 0; j < n; j++) {
            q = verify ? pb_mix(q, pb_hash(&a[j])) : q + pb_quick(&a[j]);
            pb_free(&a[j]);
        }
    }
    mdb_cursor_close(c);
    mdb_txn_abort(txn);
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
    MDB_val k, v;
    uint64_t q = 0;
    pb_time t0 = pb_now();
    begin(MDB_RDONLY);
    MDB_cursor* c = cursor(people);
    for (int i = 0; i < PB_SCANS; i++)
        for (int rc = mdb_cursor_get(c, &k, &v, MDB_FIRST); !rc; rc = mdb_cursor_get(c, &k, &v, MDB_NEXT)) {
            pb_packed r;
            memcpy(&r, v.mv_data, sizeof r);
            q += r.score > 500 && r.active;
        }
    pb_time t1 = pb_now();
    mdb_cursor_close(c);
    mdb_txn_abort(txn);
    pb_emit_check("W5", PB_SCANS, t0, t1, q);
}

static void w6(void) {
    open_store();
    MDB_val k, v;
    uint64_t q = 0;
    pb_time t0 = pb_now();
    begin(MDB_RDONLY);
    MDB_cursor* c = cursor(people);
    for (int i = 0; i < PB_SCANS; i++) {
        pb_group g[128] = {0};
        for (int rc = mdb_cursor_get(c, &k, &v, MDB_FIRST); !rc; rc = mdb_cursor_get(c, &k, &v, MDB_NEXT)) {
            pb_packed r;
            memcpy(&r, v.mv_data, sizeof r);
            pb_group_add(&g[r.age], r.score);
        }
        q = pb_groups_hash(q, g, 128);
    }
    pb_time t1 = pb_now();
    mdb_cursor_close(c);
    mdb_txn_abort(txn);
    pb_emit_check("W6", PB_SCANS, t0, t1, q);
}

static void w10(void) {
    open_store();
    MDB_val k, v;
    uint64_t q = 0, sum = 0;
    pb_time t0 = pb_now();
    begin(MDB_RDONLY);
    MDB_cursor *dc = cursor(departments), *c = cursor(depts);
    while (!mdb_cursor_get(dc, &k, &v, MDB_NEXT)) {
        char kb[16];
        MDB_val e = val(kb, 16), none;
        q += v.mv_size;
        two(kb, pb_unbe(k.mv_data), INT64_MIN);
        for (int rc = mdb_cursor_get(c, &e, &none, MDB_SET_RANGE); !rc && !memcmp(e.mv_data, kb, 8);
             rc = mdb_cursor_get(c, &e, &none, MDB_NEXT)) {
            pb_person p;
            follow(&e, &p);
            q += pb_quick(&p);
            sum += (uint64_t)p.age;
            pb_free(&p);
        }
    }
    mdb_cursor_close(dc);
    mdb_cursor_close(c);
    mdb_txn_abort(txn);
    pb_time t1 = pb_now();
    pb_sink = q;
    pb_emit_check("W10", pb_departments, t0, t1, sum);
}

static void reindex_age(int64_t id, int64_t old, int64_t new) {
    char k[16];
    MDB_val key = val(k, 16), none = val("", 0);
    two(k, old, id);
    OK(mdb_del(txn, ages, &key, 0));
    two(k, new, id);
    OK(mdb_put(txn, ages, &key, &none, 0));
}
static void put_record(int64_t id, const char* record, size_t size) {
    char kb[8];
    pb_be(kb, id);
    MDB_val k = val(kb, 8), v = val(record, size);
    OK(mdb_put(txn, people, &k, &v, 0));
}
static void update_age(int64_t id, int64_t age, int is_difference) {
    char buf[512];
    MDB_val v;
    get(id, &v);
    memcpy(buf, v.mv_data, v.mv_size); /* the page may move under us */
    pb_packed* r = (pb_packed*)buf;
    int64_t old = r->age;
    r->age = is_difference ? old + age : age;
    if (r->age == old) return;
    put_record(id, buf, v.mv_size);
    reindex_age(id, old, r->age);
}
static void w7(void) {
    const int64_t* perm = pb_perm();
    open_store();
    pb_time t0 = pb_now();
    begin(0);
    for (int64_t i = 0; i < pb_updates; i++) update_age(perm[pb_n - 1 - i], 1, 1);
    commit();
    pb_time t1 = pb_now();
    pb_emit_verify("W7", pb_updates, t0, t1, total(pb_hash));
}

static void small(const char* w, int64_t first, int64_t count, const char* note) {
    pb_person* a = pb_make_many(first, count);
    pb_time t0 = pb_now();
    for (int64_t i = 0; i < count; i++) {
        begin(0);
        insert(&a[i], MDB_NOOVERWRITE);
        commit();
    }
    pb_emit(w, count, t0, pb_now(), note);
    pb_free_many(a, count);
}
static void w8(void) {
    open_store();
    small("W8", pb_durable_id, pb_durable, "default sync");
}
static void w8b(void) {
    open_store();
    mdb_env_set_flags(env, MDB_NOMETASYNC, 1);
    small("W8b", pb_relaxed_id, pb_relaxed, "MDB_NOMETASYNC: data synced, meta page not");
    mdb_env_set_flags(env, MDB_NOMETASYNC, 0);
}
static void w8n(void) {
    open_store();
    mdb_env_set_flags(env, MDB_NOSYNC, 1);
    small("W8n", pb_relaxed2_id, pb_relaxed, "extra: MDB_NOSYNC, where a power cut may damage the file");
    mdb_env_set_flags(env, MDB_NOSYNC, 0);
}

static void w9(void) {
    const int64_t* perm = pb_perm();
    open_store();
    pb_time t0 = pb_now();
    begin(0);
    for (int64_t i = 0; i < pb_deletes; i++) {
        char id[8], kb[16], email[256];
        MDB_val k = val(id, 8), v, entry = val(kb, 16);
        pb_be(id, perm[i]);
        OK(mdb_get(txn, people, &k, &v));
        pb_packed r;
        memcpy(&r, v.mv_data, sizeof r);
        memcpy(email, (char*)v.mv_data + sizeof r + r.nname, r.nemail);
        MDB_val e = val(email, r.nemail);
        OK(mdb_del(txn, emails, &e, 0));
        two(kb, r.age, perm[i]);
        OK(mdb_del(txn, ages, &entry, 0));
        two(kb, r.dept, perm[i]);
        OK(mdb_del(txn, depts, &entry, 0));
        OK(mdb_del(txn, people, &k, 0));
    }
    commit();
    pb_time t1 = pb_now();
    pb_emit_verify("W9", pb_deletes, t0, t1, total(pb_hash));
}

static void w11(void) {
    pb_person* sources = pb_make_import();
    open_store();
    pb_time t0 = pb_now();
    begin(0);
    for (int64_t i = 0; i < pb_imports; i++) {
        MDB_val e = val(sources[i].email, sources[i].nemail), found, v;
        int rc = mdb_get(txn, emails, &e, &found);
        if (rc == MDB_NOTFOUND) {
            insert(&sources[i], MDB_NOOVERWRITE);
            continue;
        }
        OK(rc);
        int64_t id = pb_unbe(found.mv_data);
        char old[512], new[512];
        get(id, &v);
        memcpy(old, v.mv_data, v.mv_size);
        pb_person p = pb_merged(&sources[i], id, old);
        put_record(id, new, pb_pack(&p, new));
        int64_t age = ((pb_packed*)old)->age;
        if (p.age != age) reindex_age(id, age, p.age);
    }
    commit();
    pb_time t1 = pb_now();
    pb_emit_verify("W11", pb_imports, t0, t1, total(pb_content));
    pb_free_many(sources, pb_imports);
}

static void w12(void) {
    MDB_val k, v;
    pb_person p;
    open_env(pb_path);
    begin(MDB_RDONLY);
    OK(mdb_dbi_open(txn, "person", 0, &people));
    MDB_cursor* c = cursor(people);
    OK(mdb_cursor_get(c, &k, &v, MDB_FIRST));
    pb_unpack(pb_unbe(k.mv_data), v.mv_data, &p);
    pb_emit_check("W12", 1, pb_main, pb_now(), pb_hash(&p));
    mdb_cursor_close(c);
    mdb_txn_abort(txn);
    close_store();
}

static void fetch_list(pb_list* list) {
    char limit[16];
    two(limit, PB_LIST_AGE, INT64_MIN);
    begin(MDB_RDONLY);
    MDB_cursor* c = cursor(ages);
    MDB_val k, v;
    for (int rc = mdb_cursor_get(c, &k, &v, MDB_FIRST); !rc && memcmp(k.mv_data, limit, 8) < 0; rc = mdb_cursor_get(c, &k, &v, MDB_NEXT))
        follow(&k, pb_list_add(list));
    mdb_cursor_close(c);
    mdb_txn_abort(txn);
}
static void w13(void) {
    pb_change changes[PB_LIST_CHANGES];
    pb_make_changes(changes);
    open_store();
    mdb_env_set_flags(env, MDB_NOMETASYNC, 1);
    pb_list list = {0};
    fetch_list(&list);
    uint64_t h = pb_list_hash(0, &list);
    pb_time t0 = pb_now();
    for (int i = 0; i < PB_LIST_CHANGES; i++) {
        begin(0);
        update_age(changes[i].id, changes[i].age, 0);
        commit();
        pb_list fresh = {0};
        fetch_list(&fresh);
        pb_list_free(&list);
        list = fresh;
        h = pb_list_hash(h, &list);
    }
    pb_emit_check("W13", PB_LIST_CHANGES, t0, pb_now(), h);
    pb_list_free(&list);
    mdb_env_set_flags(env, MDB_NOMETASYNC, 0);
}

static void end(void) {
    open_store();
    if (pb_verify) pb_state(total(pb_content));
}

int main(int argc, char** argv) {
    const pb_workload known[] = {{"W1", w1},   {"W2", w2},   {"W3", w3},   {"W4", w4},   {"W5", w5},   {"W6", w6},
                                 {"W7", w7},   {"W8", w8},   {"W8b", w8b}, {"W9", w9},   {"W10", w10}, {"W11", w11},
                                 {"W12", w12}, {"W13", w13}, {"W1s", w1s}, {"W8n", w8n}, {"end", end}, {0, 0}};
    return pb_run(argc, argv, "P2", "p2.lmdb", "W1s,W8n", known);
}
