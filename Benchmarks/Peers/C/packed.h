/* Records and keys of the key-value peers: 48 fixed bytes, then name, email, notes; keys in the order of their bytes. */
#pragma once
#include "data.h"

typedef struct {
    int64_t age, dept;
    double score, created;
    uint32_t active, nname, nemail, nnotes;
} pb_packed;

static inline size_t pb_pack(const pb_person* p, char* b) {
    pb_packed h = {p->age, p->dept, p->score, p->created, (uint32_t)p->active, p->nname, p->nemail, p->nnotes};
    memcpy(b, &h, sizeof h);
    char* q = b + sizeof h;
    memcpy(q, p->name, p->nname);
    q += p->nname;
    memcpy(q, p->email, p->nemail);
    q += p->nemail;
    memcpy(q, p->notes, p->nnotes);
    q += p->nnotes;
    return (size_t)(q - b);
}
static inline void pb_unpack(int64_t id, const char* b, pb_person* p) {
    pb_packed h;
    memcpy(&h, b, sizeof h);
    const char* q = b + sizeof h;
    p->id = id;
    p->age = h.age;
    p->dept = h.dept;
    p->score = h.score;
    p->created = h.created;
    p->active = (int)h.active;
    p->nname = h.nname;
    p->nemail = h.nemail;
    p->nnotes = h.nnotes;
    p->name = pb_dup(q, h.nname);
    q += h.nname;
    p->email = pb_dup(q, h.nemail);
    q += h.nemail;
    p->notes = pb_dup(q, h.nnotes);
}
/* What W11 makes of an existing record: new age, score and notes, the rest as it was. */
static inline pb_person pb_merged(const pb_person* source, int64_t id, const char* old) {
    pb_packed r;
    memcpy(&r, old, sizeof r);
    pb_person p = *source;
    p.id = id;
    p.dept = r.dept;
    p.created = r.created;
    p.active = (int)r.active;
    p.name = (char*)old + sizeof r;
    p.nname = r.nname;
    p.email = p.name + r.nname;
    p.nemail = r.nemail;
    return p;
}

/* Big endian with the sign bit turned. */
static inline void pb_be(char* k, int64_t v) {
    uint64_t u = __builtin_bswap64((uint64_t)v ^ (1ull << 63));
    memcpy(k, &u, 8);
}
static inline int64_t pb_unbe(const char* k) {
    uint64_t u;
    memcpy(&u, k, 8);
    return (int64_t)(__builtin_bswap64(u) ^ (1ull << 63));
}
