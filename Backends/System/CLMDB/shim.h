#ifndef POLYSTORE_CLMDB_SHIM_H
#define POLYSTORE_CLMDB_SHIM_H

#include <lmdb.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __APPLE__
#include <pthread.h>
#else
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* Reserves disk space for the first bytes of a file, without a change of its length. Returns 0, also where the file system cannot do that, or errno. */
static inline int polystore_reserve(int descriptor, int64_t bytes) {
#if defined(SYS_fallocate) && defined(__LP64__)
    const long keep_size = 1;
    if (syscall(SYS_fallocate, (long)descriptor, keep_size, 0L, (long)bytes) != 0 && (errno == ENOSPC || errno == EDQUOT)) return errno;
#else
    (void)descriptor;
    (void)bytes;
#endif
    return 0;
}

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

/* Moves a cursor up to `capacity` times and stores the entries that it visits. Pages that were written together are contiguous in the file, so the
   same offset of the next page is prefetched. A wrong prefetch costs nothing.
   Returns the number of entries. If it is less than `capacity`, `code` is the result that ended the loop. */
static inline size_t polystore_cursor_next_batch(
    MDB_cursor *cursor, const void **keys, ptrdiff_t *key_counts, const void **values, ptrdiff_t *value_counts, size_t capacity, int *code) {
    MDB_val key, value;
    size_t count = 0;
    *code = 0;
    while (count < capacity && (*code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
        const char *at = (const char *)key.mv_data;
        __builtin_prefetch(at + 4096 - 8);
        __builtin_prefetch(at + 4096 + 56);
        __builtin_prefetch(at + 4096 + 120);
        keys[count] = at;
        key_counts[count] = (ptrdiff_t)key.mv_size;
        values[count] = value.mv_data;
        value_counts[count] = (ptrdiff_t)value.mv_size;
        count++;
    }
    return count;
}

#endif
