/* The clock, a line of JSON for each workload, and what to run. */
#pragma once
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define PB_DIE(...)                   \
    do {                              \
        fprintf(stderr, __VA_ARGS__); \
        fprintf(stderr, "\n");        \
        exit(1);                      \
    } while (0)

typedef struct {
    double wall, cpu;
} pb_time;

static const char* pb_peer;
static char pb_path[1024];
static int pb_verify;   /* PB_VERIFY: every byte is checked after each workload, outside the clock */
static pb_time pb_main; /* when the program began */
static volatile uint64_t pb_sink;

static inline pb_time pb_now(void) {
    struct timespec t;
    struct rusage u;
    clock_gettime(CLOCK_MONOTONIC, &t);
    getrusage(RUSAGE_SELF, &u);
    return (pb_time){(double)t.tv_sec + (double)t.tv_nsec * 1e-9,
                     (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6};
}

/* The most that was resident, in KiB. Not ru_maxrss where there is better: it begins with what the parent process had before exec. */
static long pb_peak_kb(void) {
    char line[256];
    long peak = 0;
    FILE* f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "VmHWM:", 6)) peak = atol(line + 6);
    if (f) fclose(f);
    if (peak) return peak;
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
#ifdef __APPLE__
    return u.ru_maxrss / 1024;
#else
    return u.ru_maxrss;
#endif
}

static void pb_line(const char* w, int64_t n, pb_time a, pb_time b, int has_check, uint64_t check, const char* note) {
    printf("{\"peer\":\"%s\",\"workload\":\"%s\",\"rows\":%lld,\"n\":%lld,\"seconds\":%.9f,\"cpu\":%.6f,\"peak_kb\":%ld", pb_peer, w,
           (long long)pb_n, (long long)n, b.wall - a.wall, b.cpu - a.cpu, pb_peak_kb());
    if (has_check) printf(",\"check\":\"%016llx\"", (unsigned long long)check);
    if (note) printf(",\"note\":\"%s\"", note);
    printf("}\n");
    fflush(stdout);
}
static inline void pb_emit(const char* w, int64_t n, pb_time a, pb_time b, const char* note) { pb_line(w, n, a, b, 0, 0, note); }
static inline void pb_emit_check(const char* w, int64_t n, pb_time a, pb_time b, uint64_t check) { pb_line(w, n, a, b, 1, check, 0); }
/* With the check only where PB_VERIFY asks for it. */
#define pb_emit_verify(w, n, a, b, check) pb_line(w, n, a, b, pb_verify, pb_verify ? (check) : 0, 0)

static inline void pb_state(uint64_t check) {
    printf("{\"peer\":\"%s\",\"rows\":%lld,\"state\":\"end\",\"check\":\"%016llx\"}\n", pb_peer, (long long)pb_n,
           (unsigned long long)check);
}

typedef struct {
    const char* name;
    void (*run)(void);
} pb_workload;

/* PROGRAM WHAT FOLDER: one workload, several with commas, or a group. */
static int pb_run(int argc, char** argv, const char* peer, const char* file, const char* extras, const pb_workload* known) {
    pb_main = pb_now();
    if (argc < 3) PB_DIE("usage: %s WORKLOAD,...|load|read|mutate|open|extra FOLDER", argv[0]);
    pb_peer = peer;
    pb_sizes();
    pb_crc("", 0);
    pb_verify = getenv("PB_VERIFY") && atoi(getenv("PB_VERIFY"));
    snprintf(pb_path, sizeof pb_path, "%s/%s", argv[2], file);
    const char* groups[][2] = {{"load", "W1,W2,W3,W4,W5,W6,W10"},
                               {"read", "W2,W3,W4,W5,W6,W10"},
                               {"mutate", "W7,W9,W11,W8,W8b,end"},
                               {"open", "W12"},
                               {"prepare", "W1"},
                               {"extra", extras}};
    char what[512];
    snprintf(what, sizeof what, "%s", argv[1]);
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        if (!strcmp(what, groups[g][0])) snprintf(what, sizeof what, "%s", groups[g][1]);
    for (char* name = strtok(what, ","); name; name = strtok(0, ",")) {
        const pb_workload* w = known;
        while (w->name && strcmp(w->name, name)) w++;
        if (!w->name) PB_DIE("%s has no workload %s", argv[0], name);
        w->run();
    }
    return 0;
}
