#ifndef POLYSTORE_CLMDB_SHIM_H
#define POLYSTORE_CLMDB_SHIM_H

#include <lmdb.h>
#include <stdint.h>

#ifdef __APPLE__
#include <pthread.h>
#else
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* The number of the calling thread. `pthread_self` will not do: a new thread often gets that of one that has ended. */
static inline uint64_t polystore_thread_number(void) {
#ifdef __APPLE__
    uint64_t number = 0;
    pthread_threadid_np(0, &number);
    return number;
#else
    return (uint64_t)syscall(SYS_gettid);
#endif
}

#endif
