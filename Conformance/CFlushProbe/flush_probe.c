#define _GNU_SOURCE
#include "CFlushProbe.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROBES 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int in_use;
static struct {
    int used;
    size_t length;
    char folder[PATH_MAX];
    uint64_t count;
    // The error with which flushes of folders fail.
    int folder_error;
    // Called after each flush by one thread.
    void (*observer)(void *);
    void *context;
    pthread_t thread;
} probes[PROBES];

int polystore_flush_probe_begin(const char *folder) {
    size_t length = strlen(folder);
    int found = -1;
    if (length >= PATH_MAX) return -1;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < PROBES && found < 0; i++) {
        if (probes[i].used) continue;
        found = i;
        probes[i].used = 1;
        probes[i].length = length;
        probes[i].count = 0;
        probes[i].folder_error = 0;
        probes[i].observer = NULL;
        memcpy(probes[i].folder, folder, length + 1);
        atomic_fetch_add(&in_use, 1);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

uint64_t polystore_flush_probe_count(int probe) {
    pthread_mutex_lock(&lock);
    uint64_t count = probe >= 0 && probe < PROBES ? probes[probe].count : 0;
    pthread_mutex_unlock(&lock);
    return count;
}

void polystore_flush_probe_end(int probe) {
    if (probe < 0 || probe >= PROBES) return;
    pthread_mutex_lock(&lock);
    if (probes[probe].used) atomic_fetch_sub(&in_use, 1);
    probes[probe].used = 0;
    pthread_mutex_unlock(&lock);
}

void polystore_flush_probe_observe(int probe, void (*observer)(void *), void *context) {
    if (probe < 0 || probe >= PROBES) return;
    pthread_mutex_lock(&lock);
    probes[probe].observer = observer;
    probes[probe].context = context;
    probes[probe].thread = pthread_self();
    pthread_mutex_unlock(&lock);
}

void polystore_flush_probe_fail_folders(int probe, int error) {
    if (probe < 0 || probe >= PROBES) return;
    pthread_mutex_lock(&lock);
    probes[probe].folder_error = error;
    pthread_mutex_unlock(&lock);
}

static int is_below(const char *path, int probe) {
    return probes[probe].used && strncmp(path, probes[probe].folder, probes[probe].length) == 0 && path[probes[probe].length] == '/';
}

static void count_path(const char *path) {
    for (int i = 0; i < PROBES; i++) {
        void (*observer)(void *) = NULL;
        void *context = NULL;
        pthread_mutex_lock(&lock);
        if (is_below(path, i)) {
            probes[i].count++;
            if (probes[i].observer && pthread_equal(probes[i].thread, pthread_self())) {
                observer = probes[i].observer;
                context = probes[i].context;
            }
        }
        pthread_mutex_unlock(&lock);
        // Without the lock, because the observer may open and close files.
        if (observer) observer(context);
    }
}

// Finds the path of a descriptor. Returns 0 if it has none.
static int find_path(int descriptor, char path[PATH_MAX]) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(name, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return 1;
}

static void count_descriptor(int descriptor) {
    char path[PATH_MAX];
    if (find_path(descriptor, path)) count_path(path);
}

// Returns the error with which the flush of a folder fails; 0 if it does not.
static int folder_error(int descriptor) {
    char path[PATH_MAX];
    struct stat found;
    int error = 0;
    if (fstat(descriptor, &found) != 0 || !S_ISDIR(found.st_mode) || !find_path(descriptor, path)) return 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < PROBES && error == 0; i++) if (is_below(path, i)) error = probes[i].folder_error;
    pthread_mutex_unlock(&lock);
    return error;
}

// Returns the file that is mapped at an address.
static void count_address(void *address) {
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[PATH_MAX + 128];
    if (!maps) return;
    while (fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        int start = 0;
        if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &from, &to, &start) < 2) continue;
        if ((unsigned long)address < from || (unsigned long)address >= to || start == 0) continue;
        line[strcspn(line, "\n")] = 0;
        count_path(line + start);
        break;
    }
    fclose(maps);
}

typedef int (*flush_function)(int);
typedef int (*map_flush_function)(void *, size_t, int);

int fsync(int descriptor) {
    static _Atomic(flush_function) next;
    flush_function found = atomic_load(&next);
    if (!found) atomic_store(&next, found = (flush_function)dlsym(RTLD_NEXT, "fsync"));
    int error = atomic_load(&in_use) ? folder_error(descriptor) : 0;
    if (error) {
        errno = error;
        return -1;
    }
    int result = found ? found(descriptor) : (int)syscall(SYS_fsync, descriptor);
    if (result == 0 && atomic_load(&in_use)) count_descriptor(descriptor);
    return result;
}

int fdatasync(int descriptor) {
    static _Atomic(flush_function) next;
    flush_function found = atomic_load(&next);
    if (!found) atomic_store(&next, found = (flush_function)dlsym(RTLD_NEXT, "fdatasync"));
    int result = found ? found(descriptor) : (int)syscall(SYS_fdatasync, descriptor);
    if (result == 0 && atomic_load(&in_use)) count_descriptor(descriptor);
    return result;
}

int msync(void *address, size_t length, int flags) {
    static _Atomic(map_flush_function) next;
    map_flush_function found = atomic_load(&next);
    if (!found) atomic_store(&next, found = (map_flush_function)dlsym(RTLD_NEXT, "msync"));
    int result = found ? found(address, length, flags) : (int)syscall(SYS_msync, address, length, flags);
    if (result == 0 && (flags & MS_SYNC) && atomic_load(&in_use)) count_address(address);
    return result;
}

#else

int polystore_flush_probe_begin(const char *folder) { return -1; }
uint64_t polystore_flush_probe_count(int probe) { return 0; }
void polystore_flush_probe_observe(int probe, void (*observer)(void *), void *context) {}
void polystore_flush_probe_fail_folders(int probe, int error) {}
void polystore_flush_probe_end(int probe) {}

#endif
