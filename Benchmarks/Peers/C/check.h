/* The checksums, as in PeerKit, so that programs can be compared. */
#pragma once
#include <math.h>

#include "data.h"

static uint32_t pb_crc_table[256];

static inline uint32_t pb_crc(const char* p, size_t n) {
    if (!pb_crc_table[1])
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t c = i;
            for (int k = 0; k < 8; k++) c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
            pb_crc_table[i] = c;
        }
    uint32_t c = 0xFFFFFFFFu;
    for (size_t i = 0; i < n; i++) c = pb_crc_table[(c ^ (uint8_t)p[i]) & 255] ^ (c >> 8);
    return c ^ 0xFFFFFFFFu;
}

static inline uint64_t pb_mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * PB_GAMMA;
    return h ^ (h >> 32);
}
static inline uint64_t pb_bits(double d) {
    uint64_t u;
    memcpy(&u, &d, 8);
    return u;
}

static inline uint64_t pb_hash_with(const pb_person* p, int64_t id) {
    uint64_t h = pb_mix(0xcbf29ce484222325ull, (uint64_t)id);
    h = pb_mix(h, pb_crc(p->name, p->nname));
    h = pb_mix(h, pb_crc(p->email, p->nemail));
    h = pb_mix(h, (uint64_t)p->age);
    h = pb_mix(h, pb_bits(p->score));
    h = pb_mix(h, p->active ? 1 : 0);
    h = pb_mix(h, pb_bits(p->created));
    h = pb_mix(h, pb_crc(p->notes, p->nnotes));
    return pb_mix(h, (uint64_t)p->dept);
}
/* Over every byte of every field, outside the clock. */
static inline uint64_t pb_hash(const pb_person* p) { return pb_hash_with(p, p->id); }
/* The same without the id: for workloads whose new rows get ids that the program chooses. The email says who it is. */
static inline uint64_t pb_content(const pb_person* p) { return pb_hash_with(p, 0); }

/* Touches every field, and is cheap: inside the clock. */
static inline uint64_t pb_quick(const pb_person* p) {
    return (uint64_t)p->id + p->nname + p->nemail + (uint64_t)p->age + (uint64_t)p->score + (uint64_t)p->active + (uint64_t)p->created +
           p->nnotes + (uint64_t)p->dept + (uint8_t)p->name[0] + (uint8_t)p->email[0] + (uint8_t)p->notes[0];
}

typedef struct {
    int64_t n;
    double sum, min, max;
} pb_group;

static inline void pb_group_add(pb_group* g, double s) {
    if (!g->n++) {
        g->min = g->max = g->sum = s;
        return;
    }
    g->sum += s;
    if (s < g->min) g->min = s;
    if (s > g->max) g->max = s;
}
static inline uint64_t pb_group_hash(uint64_t h, int64_t age, int64_t n, double avg, double mn, double mx) {
    h = pb_mix(h, (uint64_t)age);
    h = pb_mix(h, (uint64_t)n);
    h = pb_mix(h, (uint64_t)(int64_t)floor(avg * 1000 + 0.5));
    h = pb_mix(h, pb_bits(mn));
    return pb_mix(h, pb_bits(mx));
}
static inline uint64_t pb_groups_hash(uint64_t h, const pb_group* g, int count) {
    for (int x = 0; x < count; x++)
        if (g[x].n) h = pb_group_hash(h, x, g[x].n, g[x].sum / (double)g[x].n, g[x].min, g[x].max);
    return h;
}

/* Rows that outlive their cursor. */
typedef struct {
    pb_person* rows;
    size_t count, room;
} pb_list;

static inline pb_person* pb_list_add(pb_list* l) {
    if (l->count == l->room) l->rows = (pb_person*)realloc(l->rows, sizeof *l->rows * (l->room = l->room ? l->room * 2 : 1024));
    return &l->rows[l->count++];
}
static inline void pb_list_free(pb_list* l) {
    for (size_t i = 0; i < l->count; i++) pb_free(&l->rows[i]);
    free(l->rows);
    *l = (pb_list){0};
}
static inline uint64_t pb_list_quick(const pb_list* l) {
    uint64_t q = 0;
    for (size_t i = 0; i < l->count; i++) q += pb_quick(&l->rows[i]);
    return q;
}
static inline uint64_t pb_list_full(const pb_list* l) {
    uint64_t q = 0;
    for (size_t i = 0; i < l->count; i++) q += pb_hash(&l->rows[i]);
    return q;
}
/* A list of W13 as a number: who is in it, in which order. */
static inline uint64_t pb_list_hash(uint64_t h, const pb_list* l) {
    h = pb_mix(h, l->count);
    for (size_t i = 0; i < l->count; i++) h = h * 31 + (uint64_t)l->rows[i].id + (uint64_t)l->rows[i].age;
    return h;
}
