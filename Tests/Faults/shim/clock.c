// The system's clock, which moves at each reading.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// The seconds by which each reading moves the clock, and the seconds by which it has moved.
static int64_t step;
static _Atomic int64_t moved;

__attribute__((constructor)) static void read_settings(void) {
    const char *text = getenv("FAULTS_CLOCK");
    if (text) step = atoll(text);
}

static int is_system_clock(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE; }

static int real_time(clockid_t clock, struct timespec *time) { return (int)syscall(SYS_clock_gettime, clock, time); }

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = real_time(clock, time);
    if (result == 0 && step && is_system_clock(clock)) time->tv_sec += atomic_fetch_add(&moved, step);
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    int result = clock_gettime(CLOCK_REALTIME, &now);
    if (result == 0) *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return result;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

// MARK: Condition variables

// The condition variables with another clock than the system's. The library never removes one without the program.
enum { LONGEST_TABLE = 1 << 16 };
static _Atomic(pthread_cond_t *) monotonic[LONGEST_TABLE];

static size_t hash(pthread_cond_t *condition) { return ((uintptr_t)condition >> 4) * 2654435761u % LONGEST_TABLE; }

static _Atomic(pthread_cond_t *) *entry(pthread_cond_t *condition, pthread_cond_t *found) {
    for (size_t each = 0; each < LONGEST_TABLE; each++) {
        _Atomic(pthread_cond_t *) *at = &monotonic[(hash(condition) + each) % LONGEST_TABLE];
        if (atomic_load(at) == found) return at;
        // Removed entries are marked with this address, so a search continues after them.
        if (found && atomic_load(at) == NULL) return NULL;
    }
    return NULL;
}

static void *next(const char *name) {
    // The default version; `dlsym` alone can return the one of old programs.
    void *found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    return found ? found : dlsym(RTLD_NEXT, name);
}

int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes) {
    static int (*real)(pthread_cond_t *, const pthread_condattr_t *);
    if (!real) real = (int (*)(pthread_cond_t *, const pthread_condattr_t *))next("pthread_cond_init");
    clockid_t clock = CLOCK_REALTIME;
    if (step && attributes) pthread_condattr_getclock(attributes, &clock);
    if (!is_system_clock(clock)) {
        pthread_cond_t *expected = NULL;
        _Atomic(pthread_cond_t *) *at;
        while ((at = entry(condition, NULL)) && !atomic_compare_exchange_strong(at, &expected, condition)) expected = NULL;
        if (!at) abort();
    }
    return real(condition, attributes);
}

int pthread_cond_destroy(pthread_cond_t *condition) {
    static int (*real)(pthread_cond_t *);
    if (!real) real = (int (*)(pthread_cond_t *))next("pthread_cond_destroy");
    _Atomic(pthread_cond_t *) *at = step ? entry(condition, condition) : NULL;
    if (at) atomic_store(at, (pthread_cond_t *)monotonic);
    return real(condition);
}

// Waits in short parts, because the deadline is compared with a clock that moves.
int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict deadline) {
    static int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    if (!real) real = (int (*)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *))next("pthread_cond_timedwait");
    if (!step || entry(condition, condition)) return real(condition, mutex, deadline);
    while (1) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        if (now.tv_sec > deadline->tv_sec || (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec)) return ETIMEDOUT;
        struct timespec part;
        real_time(CLOCK_REALTIME, &part);
        part.tv_nsec += 10000000;
        if (part.tv_nsec >= 1000000000) {
            part.tv_sec += 1;
            part.tv_nsec -= 1000000000;
        }
        int result = real(condition, mutex, &part);
        if (result != ETIMEDOUT) return result;
    }
}
