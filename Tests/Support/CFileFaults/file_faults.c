#define _GNU_SOURCE
#include "CFileFaults.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define PLANS 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int in_use;
static struct {
    int used, classes, error, lasts;
    size_t length;
    char folder[PATH_MAX];
    uint64_t at, count, failed;
    void (*observer)(void *);
    void *context;
} plans[PLANS];

int polystore_file_faults_begin(const char *folder, int classes, uint64_t at, int error, int lasts) {
    size_t length = strlen(folder);
    int found = -1;
    if (length >= PATH_MAX) return -1;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < PLANS && found < 0; i++) {
        if (plans[i].used) continue;
        found = i;
        plans[i].used = 1;
        plans[i].classes = classes;
        plans[i].error = error;
        plans[i].lasts = lasts;
        plans[i].length = length;
        plans[i].at = at;
        plans[i].count = plans[i].failed = 0;
        plans[i].observer = NULL;
        memcpy(plans[i].folder, folder, length + 1);
        atomic_fetch_add(&in_use, 1);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static uint64_t number(int plan, int failed) {
    pthread_mutex_lock(&lock);
    uint64_t result = plan < 0 || plan >= PLANS ? 0 : failed ? plans[plan].failed : plans[plan].count;
    pthread_mutex_unlock(&lock);
    return result;
}

void polystore_file_faults_observe(int plan, void (*observer)(void *), void *context) {
    if (plan < 0 || plan >= PLANS) return;
    pthread_mutex_lock(&lock);
    plans[plan].observer = observer;
    plans[plan].context = context;
    pthread_mutex_unlock(&lock);
}

uint64_t polystore_file_faults_count(int plan) { return number(plan, 0); }
uint64_t polystore_file_faults_failed(int plan) { return number(plan, 1); }

void polystore_file_faults_end(int plan) {
    if (plan < 0 || plan >= PLANS) return;
    pthread_mutex_lock(&lock);
    if (plans[plan].used) atomic_fetch_sub(&in_use, 1);
    plans[plan].used = 0;
    pthread_mutex_unlock(&lock);
}

// Counts a call, and returns the error with which it fails; 0 if it does not.
static int decide(const char *path, int class) {
    int error = 0;
    void (*observer)(void *) = NULL;
    void *context = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < PLANS && error == 0; i++) {
        if (!plans[i].used || !(plans[i].classes & class)) continue;
        if (strncmp(path, plans[i].folder, plans[i].length) != 0 || path[plans[i].length] != '/') continue;
        uint64_t count = ++plans[i].count;
        if (plans[i].at == 0 || count < plans[i].at || (count > plans[i].at && !plans[i].lasts)) continue;
        if (plans[i].observer) {
            observer = plans[i].observer;
            context = plans[i].context;
            continue;
        }
        plans[i].failed++;
        error = plans[i].error;
    }
    pthread_mutex_unlock(&lock);
    // Without the lock, because the observer may use files.
    if (observer) observer(context);
    return error;
}

static int decide_descriptor(int descriptor, int class) {
    if (!atomic_load(&in_use)) return 0;
    int kept = errno;
    char name[64], path[PATH_MAX];
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(name, path, sizeof path - 1);
    int error = 0;
    if (length >= 0) {
        path[length] = 0;
        error = decide(path, class);
    }
    errno = kept;
    return error;
}

// Names relative to a folder are not watched.
static int decide_path(const char *path) { return atomic_load(&in_use) && path[0] == '/' ? decide(path, POLYSTORE_FAULT_SPACE) : 0; }

static void *next(_Atomic(void *) *kept, const char *name) {
    void *found = atomic_load(kept);
    if (!found) atomic_store(kept, found = dlsym(RTLD_NEXT, name));
    return found;
}

#define NEXT(name) (static_next_##name())
#define DEFINE_NEXT(name)                                                        \
    static void *static_next_##name(void) {                                      \
        static _Atomic(void *) kept;                                             \
        return next(&kept, #name);                                               \
    }

#define FAIL_IF(decision)              \
    do {                               \
        int fault = (decision);        \
        if (fault) {                   \
            errno = fault;             \
            return -1;                 \
        }                              \
    } while (0)

// MARK: Reading

DEFINE_NEXT(read)
ssize_t read(int descriptor, void *bytes, size_t count) {
    FAIL_IF(decide_descriptor(descriptor, POLYSTORE_FAULT_READS));
    return ((ssize_t(*)(int, void *, size_t))NEXT(read))(descriptor, bytes, count);
}

DEFINE_NEXT(pread)
ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
    FAIL_IF(decide_descriptor(descriptor, POLYSTORE_FAULT_READS));
    return ((ssize_t(*)(int, void *, size_t, off_t))NEXT(pread))(descriptor, bytes, count, offset);
}

DEFINE_NEXT(pread64)
ssize_t pread64(int descriptor, void *bytes, size_t count, off64_t offset) {
    FAIL_IF(decide_descriptor(descriptor, POLYSTORE_FAULT_READS));
    return ((ssize_t(*)(int, void *, size_t, off64_t))NEXT(pread64))(descriptor, bytes, count, offset);
}

// MARK: Writing

DEFINE_NEXT(write)
ssize_t write(int descriptor, const void *bytes, size_t count) {
    FAIL_IF(decide_descriptor(descriptor, POLYSTORE_FAULT_SPACE));
    return ((ssize_t(*)(int, const void *, size_t))NEXT(write))(descriptor, bytes, count);
}

DEFINE_NEXT(writev)
ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    FAIL_IF(decide_descriptor(descriptor, POLYSTORE_FAULT_SPACE));
    return ((ssize_t(*)(int, const struct iovec *, int))NEXT(writev))(descriptor, parts, count);
}

DEFINE_NEXT(pwrite)
ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    FAIL_IF(decide_descriptor(descriptor, POLYSTORE_FAULT_SPACE));
    return ((ssize_t(*)(int, const void *, size_t, off_t))NEXT(pwrite))(descriptor, bytes, count, offset);
}

DEFINE_NEXT(pwrite64)
ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    FAIL_IF(decide_descriptor(descriptor, POLYSTORE_FAULT_SPACE));
    return ((ssize_t(*)(int, const void *, size_t, off64_t))NEXT(pwrite64))(descriptor, bytes, count, offset);
}

// MARK: Growing

static int grows(int descriptor, off64_t size) {
    struct stat found;
    return atomic_load(&in_use) && fstat(descriptor, &found) == 0 && size > found.st_size;
}

DEFINE_NEXT(ftruncate)
int ftruncate(int descriptor, off_t size) {
    if (grows(descriptor, size)) FAIL_IF(decide_descriptor(descriptor, POLYSTORE_FAULT_SPACE));
    return ((int (*)(int, off_t))NEXT(ftruncate))(descriptor, size);
}

DEFINE_NEXT(ftruncate64)
int ftruncate64(int descriptor, off64_t size) {
    if (grows(descriptor, size)) FAIL_IF(decide_descriptor(descriptor, POLYSTORE_FAULT_SPACE));
    return ((int (*)(int, off64_t))NEXT(ftruncate64))(descriptor, size);
}

DEFINE_NEXT(posix_fallocate)
int posix_fallocate(int descriptor, off_t offset, off_t count) {
    int error = decide_descriptor(descriptor, POLYSTORE_FAULT_SPACE);
    return error ? error : ((int (*)(int, off_t, off_t))NEXT(posix_fallocate))(descriptor, offset, count);
}

DEFINE_NEXT(posix_fallocate64)
int posix_fallocate64(int descriptor, off64_t offset, off64_t count) {
    int error = decide_descriptor(descriptor, POLYSTORE_FAULT_SPACE);
    return error ? error : ((int (*)(int, off64_t, off64_t))NEXT(posix_fallocate64))(descriptor, offset, count);
}

DEFINE_NEXT(fallocate)
int fallocate(int descriptor, int mode, off_t offset, off_t count) {
    FAIL_IF(decide_descriptor(descriptor, POLYSTORE_FAULT_SPACE));
    return ((int (*)(int, int, off_t, off_t))NEXT(fallocate))(descriptor, mode, offset, count);
}

DEFINE_NEXT(fallocate64)
int fallocate64(int descriptor, int mode, off64_t offset, off64_t count) {
    FAIL_IF(decide_descriptor(descriptor, POLYSTORE_FAULT_SPACE));
    return ((int (*)(int, int, off64_t, off64_t))NEXT(fallocate64))(descriptor, mode, offset, count);
}

// MARK: Names

static int creates(const char *path, int flags) {
    struct stat found;
    return (flags & O_CREAT) && atomic_load(&in_use) && lstat(path, &found) != 0;
}

#define MODE_OF(flags, mode)                     \
    mode_t mode = 0;                             \
    if ((flags) & (O_CREAT | O_TMPFILE)) {       \
        va_list list;                            \
        va_start(list, flags);                   \
        mode = (mode_t)va_arg(list, int);        \
        va_end(list);                            \
    }

DEFINE_NEXT(open)
int open(const char *path, int flags, ...) {
    MODE_OF(flags, mode)
    if (creates(path, flags)) FAIL_IF(decide_path(path));
    return ((int (*)(const char *, int, ...))NEXT(open))(path, flags, mode);
}

DEFINE_NEXT(open64)
int open64(const char *path, int flags, ...) {
    MODE_OF(flags, mode)
    if (creates(path, flags)) FAIL_IF(decide_path(path));
    return ((int (*)(const char *, int, ...))NEXT(open64))(path, flags, mode);
}

DEFINE_NEXT(mkdir)
int mkdir(const char *path, mode_t mode) {
    FAIL_IF(decide_path(path));
    return ((int (*)(const char *, mode_t))NEXT(mkdir))(path, mode);
}

DEFINE_NEXT(rename)
int rename(const char *path, const char *other) {
    FAIL_IF(decide_path(other));
    return ((int (*)(const char *, const char *))NEXT(rename))(path, other);
}

DEFINE_NEXT(link)
int link(const char *path, const char *other) {
    FAIL_IF(decide_path(other));
    return ((int (*)(const char *, const char *))NEXT(link))(path, other);
}

#else

int polystore_file_faults_begin(const char *folder, int classes, uint64_t at, int error, int lasts) { return -1; }
uint64_t polystore_file_faults_count(int plan) { return 0; }
uint64_t polystore_file_faults_failed(int plan) { return 0; }
void polystore_file_faults_end(int plan) {}
void polystore_file_faults_observe(int plan, void (*observer)(void *), void *context) {}

#endif
