// The settings, the choice of failing calls, and the operation log.
#define _GNU_SOURCE
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

unsigned char faults_descriptors[DESCRIPTOR_LIMIT];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static char marker[PATH_MAX];
static int log_descriptor = -1;
static uint64_t fail_at;
static int fail_from;
static int fail_short;
static int fail_kill;
static int fail_error = EIO;
static unsigned fail_classes = ~(unsigned)(CLASS_MMAP | CLASS_READ);
static uint64_t counted;
static uint64_t injected;
// Two numbers in a file, which outlive the process: counted calls, failed calls.
static volatile uint64_t *counters;

// Raw system calls, so that the library's own writes are not intercepted.
static int raw_open(const char *path, int flags, int mode) { return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode); }

static unsigned class_named(const char *name, size_t count) {
    static const struct { const char *name; unsigned class; } known[] = {
        {"open", CLASS_OPEN}, {"write", CLASS_WRITE}, {"sync", CLASS_SYNC}, {"fsync", CLASS_SYNC}, {"truncate", CLASS_TRUNCATE},
        {"rename", CLASS_RENAME}, {"unlink", CLASS_UNLINK}, {"mkdir", CLASS_MKDIR}, {"link", CLASS_LINK}, {"mmap", CLASS_MMAP},
        {"read", CLASS_READ},
    };
    for (size_t each = 0; each < sizeof known / sizeof *known; each++) {
        if (strlen(known[each].name) == count && memcmp(known[each].name, name, count) == 0) return known[each].class;
    }
    fprintf(stderr, "faults: FAULTS_CLASS names an unknown class in \"%s\"\n", name);
    abort();
}

__attribute__((constructor)) static void read_settings(void) {
    const char *text;
    // The paths of opened files are compared with the resolved path.
    if ((text = getenv("FAULTS_ROOT")) && !realpath(text, root)) {
        fprintf(stderr, "faults: FAULTS_ROOT=%s is no folder\n", text);
        abort();
    }
    if ((text = getenv("FAULTS_MARKS"))) snprintf(marker, sizeof marker, "%s", text);
    if ((text = getenv("FAULTS_LOG"))) {
        log_descriptor = raw_open(text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        // A high number, to keep the program's descriptor numbers unchanged.
        int high = fcntl(log_descriptor, F_DUPFD_CLOEXEC, 900);
        if (high >= 0) {
            syscall(SYS_close, log_descriptor);
            log_descriptor = high;
        }
    }
    if ((text = getenv("FAULTS_AT"))) fail_at = strtoull(text, NULL, 10);
    if ((text = getenv("FAULTS_MODE"))) fail_from = strcmp(text, "from") == 0;
    if ((text = getenv("FAULTS_ERROR"))) {
        if (strcmp(text, "ENOSPC") == 0) fail_error = ENOSPC;
        if (strcmp(text, "ENOMEM") == 0) fail_error = ENOMEM;
        if (strcmp(text, "KILL") == 0) fail_kill = 1;
        if (strcmp(text, "short") == 0) {
            fail_short = 1;
            fail_error = ENOSPC;
            fail_classes = CLASS_WRITE;
        }
    }
    if ((text = getenv("FAULTS_CLASS")) && *text) {
        fail_classes = 0;
        while (*text) {
            size_t count = strcspn(text, ",");
            fail_classes |= class_named(text, count);
            text += count + (text[count] == ',');
        }
    }
    if ((text = getenv("FAULTS_COUNT"))) {
        int fd = raw_open(text, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0 && syscall(SYS_ftruncate, fd, 16) == 0) {
            void *map = (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            if (map != MAP_FAILED) counters = map;
        }
        if (fd >= 0) syscall(SYS_close, fd);
    }
}

void faults_lock(void) { pthread_mutex_lock(&lock); }
void faults_unlock(void) { pthread_mutex_unlock(&lock); }

int faults_path(int directory, const char *path, char *full) {
    char whole[2 * PATH_MAX];
    if (path[0] == '/') {
        snprintf(whole, sizeof whole, "%s", path);
    } else {
        char base[PATH_MAX];
        if (directory == AT_FDCWD) {
            if (!getcwd(base, sizeof base)) return 0;
        } else {
            char link[64];
            snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
            ssize_t count = readlink(link, base, sizeof base - 1);
            if (count < 0) return 0;
            base[count] = 0;
        }
        snprintf(whole, sizeof whole, "%s/%s", base, path);
    }
    // Replaces "//" and "/./" by "/", and removes a trailing slash.
    char *to = full;
    for (const char *from = whole; *from && to - full < PATH_MAX - 1; from++) {
        if (from[0] == '/' && (from[1] == '/' || from[1] == 0)) continue;
        if (from[0] == '/' && from[1] == '.' && (from[2] == '/' || from[2] == 0)) {
            from++;
            continue;
        }
        *to++ = *from;
    }
    *to = 0;
    size_t count = strlen(root);
    return count > 0 && strncmp(full, root, count) == 0 && (full[count] == '/' || full[count] == 0);
}

int faults_is_marker(const char *full) { return marker[0] && strcmp(full, marker) == 0; }

struct faults_decision faults_decide(enum faults_class class) {
    struct faults_decision decision = {0, 0};
    if (!(class & fail_classes)) return decision;
    counted++;
    if (counters) counters[0] = counted;
    if (fail_at == 0 || counted < fail_at || (counted > fail_at && !fail_from)) return decision;
    injected++;
    if (counters) counters[1] = injected;
    if (fail_kill) syscall(SYS_kill, getpid(), SIGKILL);
    // The first failure is a short write; after it the disk is full.
    if (fail_short && counted == fail_at) {
        decision.is_short = 1;
    } else {
        decision.error = fail_error;
    }
    return decision;
}

struct entry {
    uint32_t operation;
    int32_t descriptor;
    int64_t offset;
    int64_t argument;
    uint64_t count;
};

static void put(struct iovec *parts, int count) {
    if (syscall(SYS_writev, log_descriptor, parts, count) < 0) {
        fprintf(stderr, "faults: the operation log cannot be written\n");
        abort();
    }
}

void faults_record(enum faults_operation operation, int fd, int64_t offset, int64_t argument, const void *payload, size_t count) {
    if (log_descriptor < 0) return;
    struct entry entry = {operation, fd, offset, argument, count};
    struct iovec parts[2] = {{&entry, sizeof entry}, {(void *)payload, count}};
    put(parts, 2);
}

void faults_record_paths(enum faults_operation operation, const char *first, const char *second) {
    if (log_descriptor < 0) return;
    size_t left = strlen(first), right = strlen(second);
    struct entry entry = {operation, -1, 0, 0, left + 1 + right};
    struct iovec parts[3] = {{&entry, sizeof entry}, {(void *)first, left + 1}, {(void *)second, right}};
    put(parts, 3);
}
