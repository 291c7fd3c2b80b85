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

/* The number of the calling thread. `pthread_self` will not do: a new thread often gets that of one that has ended. Kept per thread, as it is asked
   for with every key that is written. */
static inline uint64_t polystore_thread_number(void) {
    static _Thread_local uint64_t number = 0;
    if (number == 0) {
#ifdef __APPLE__
        pthread_threadid_np(0, &number);
#else
        number = (uint64_t)syscall(SYS_gettid);
#endif
    }
    return number;
}

#endif
