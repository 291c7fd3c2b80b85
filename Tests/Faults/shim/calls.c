// The intercepted calls.
#define _GNU_SOURCE
#include "faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name, result, ...)                                            \
    static result (*real)(__VA_ARGS__);                                    \
    if (!real) real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

// MARK: Opening and closing

static int opened(int directory, const char *path, int flags, mode_t mode) {
    static int (*real)(int, const char *, int, ...);
    if (!real) real = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
    char full[PATH_MAX];
    int is_below = faults_path(directory, path, full);
    int is_marker = faults_is_marker(full);
    if (!is_below && !is_marker) {
        int other = real(directory, path, flags, mode);
        // The C library may have closed a watched file internally, and the descriptor is reused.
        if (faults_flags(other)) faults_descriptors[other] = 0;
        return other;
    }
    faults_lock();
    int result = -1, error = 0;
    if (!is_marker) {
        struct faults_decision decision = faults_decide(CLASS_OPEN);
        error = decision.error;
        // Opening an existing file needs no space.
        if (error == ENOSPC && !(flags & O_CREAT)) error = EIO;
    }
    if (error == 0) {
        result = real(directory, path, flags, mode);
        error = errno;
        if (result >= 0 && result < DESCRIPTOR_LIMIT) {
            faults_descriptors[result] = is_marker ? IS_MARKER : IS_WATCHED;
            // O_SYNC contains O_DSYNC.
            if (flags & O_DSYNC) faults_descriptors[result] |= IS_SYNCHRONOUS;
            if (flags & O_APPEND) faults_descriptors[result] |= IS_APPENDING;
            if (!is_marker) faults_record(OP_OPEN, result, 0, flags, full, strlen(full));
        }
    }
    faults_unlock();
    errno = error;
    return result;
}

#define MODE_OF(flags, mode)                            \
    mode_t mode = 0;                                    \
    if ((flags) & (O_CREAT | O_TMPFILE)) {              \
        va_list list;                                   \
        va_start(list, flags);                          \
        mode = (mode_t)va_arg(list, int);               \
        va_end(list);                                   \
    }

int open(const char *path, int flags, ...) {
    MODE_OF(flags, mode)
    return opened(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    MODE_OF(flags, mode)
    return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}
int openat(int directory, const char *path, int flags, ...) {
    MODE_OF(flags, mode)
    return opened(directory, path, flags, mode);
}
int openat64(int directory, const char *path, int flags, ...) {
    MODE_OF(flags, mode)
    return opened(directory, path, flags | O_LARGEFILE, mode);
}
int creat(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

int close(int fd) {
    REAL("close", int, int);
    if (!faults_flags(fd)) return real(fd);
    faults_lock();
    if (faults_flags(fd) & IS_WATCHED) faults_record(OP_CLOSE, fd, 0, 0, NULL, 0);
    faults_descriptors[fd] = 0;
    int result = real(fd);
    faults_unlock();
    return result;
}

// MARK: Writing

static ssize_t written(int fd, const void *bytes, size_t count, off_t offset) {
    REAL("pwrite64", ssize_t, int, const void *, size_t, off_t);
    static ssize_t (*plain)(int, const void *, size_t);
    if (!plain) plain = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    unsigned flags = faults_flags(fd);
    if (!flags) return offset < 0 ? plain(fd, bytes, count) : real(fd, bytes, count, offset);
    faults_lock();
    ssize_t result = -1;
    int error = 0;
    if (flags & IS_MARKER) {
        faults_record(OP_MARK, fd, 0, 0, bytes, count);
        result = plain(fd, bytes, count);
        error = errno;
    } else {
        struct faults_decision decision = faults_decide(CLASS_WRITE);
        error = decision.error;
        if (error == 0) {
            size_t some = decision.is_short && count > 1 ? count / 2 : count;
            off_t place = offset;
            if (place < 0) {
                struct stat status;
                place = (flags & IS_APPENDING) && fstat(fd, &status) == 0 ? status.st_size : lseek(fd, 0, SEEK_CUR);
            }
            result = offset < 0 ? plain(fd, bytes, some) : real(fd, bytes, some, offset);
            error = errno;
            if (result > 0) faults_record(OP_WRITE, fd, place, (flags & IS_SYNCHRONOUS) != 0, bytes, (size_t)result);
        }
    }
    faults_unlock();
    errno = error;
    return result;
}

static ssize_t gathered(int fd, const struct iovec *parts, int count, off_t offset) {
    size_t total = 0;
    for (int each = 0; each < count; each++) total += parts[each].iov_len;
    char *bytes = malloc(total ? total : 1);
    if (!bytes) {
        errno = ENOMEM;
        return -1;
    }
    size_t at = 0;
    for (int each = 0; each < count; each++) {
        memcpy(bytes + at, parts[each].iov_base, parts[each].iov_len);
        at += parts[each].iov_len;
    }
    ssize_t result = written(fd, bytes, total, offset);
    int error = errno;
    free(bytes);
    errno = error;
    return result;
}

ssize_t write(int fd, const void *bytes, size_t count) { return written(fd, bytes, count, -1); }
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) { return written(fd, bytes, count, offset); }
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) { return written(fd, bytes, count, offset); }
ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL("writev", ssize_t, int, const struct iovec *, int);
    return faults_flags(fd) ? gathered(fd, parts, count, -1) : real(fd, parts, count);
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
    REAL("pwritev", ssize_t, int, const struct iovec *, int, off_t);
    return faults_flags(fd) ? gathered(fd, parts, count, offset) : real(fd, parts, count, offset);
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
    REAL("pwritev64", ssize_t, int, const struct iovec *, int, off64_t);
    return faults_flags(fd) ? gathered(fd, parts, count, offset) : real(fd, parts, count, offset);
}

static int truncated(int fd, off_t size) {
    REAL("ftruncate64", int, int, off_t);
    if (!(faults_flags(fd) & IS_WATCHED)) return real(fd, size);
    faults_lock();
    int error = faults_decide(CLASS_TRUNCATE).error;
    int result = -1;
    if (error == 0) {
        result = real(fd, size);
        error = errno;
        if (result == 0) faults_record(OP_TRUNCATE, fd, size, 0, NULL, 0);
    }
    faults_unlock();
    errno = error;
    return result;
}
int ftruncate(int fd, off_t size) { return truncated(fd, size); }
int ftruncate64(int fd, off64_t size) { return truncated(fd, size); }

int posix_fallocate(int fd, off_t offset, off_t count) {
    REAL("posix_fallocate", int, int, off_t, off_t);
    if (!(faults_flags(fd) & IS_WATCHED)) return real(fd, offset, count);
    faults_lock();
    int error = faults_decide(CLASS_TRUNCATE).error;
    if (error == 0) {
        error = real(fd, offset, count);
        struct stat status;
        if (error == 0 && fstat(fd, &status) == 0) faults_record(OP_TRUNCATE, fd, status.st_size, 0, NULL, 0);
    }
    faults_unlock();
    return error;
}

// MARK: Flushing

static int flushed(int fd, int (*real)(int)) {
    if (!(faults_flags(fd) & IS_WATCHED)) return real(fd);
    faults_lock();
    int error = faults_decide(CLASS_SYNC).error;
    int result = -1;
    if (error == 0) {
        result = real(fd);
        error = errno;
    }
    faults_record(result == 0 ? OP_SYNC : OP_SYNC_FAILED, fd, 0, 0, NULL, 0);
    faults_unlock();
    errno = error;
    return result;
}
int fsync(int fd) {
    REAL("fsync", int, int);
    return flushed(fd, real);
}
int fdatasync(int fd) {
    REAL("fdatasync", int, int);
    return flushed(fd, real);
}
// Starts writeback only: it can fail, and makes nothing durable.
int sync_file_range(int fd, off64_t offset, off64_t count, unsigned flags) {
    REAL("sync_file_range", int, int, off64_t, off64_t, unsigned);
    if (!(faults_flags(fd) & IS_WATCHED)) return real(fd, offset, count, flags);
    faults_lock();
    int error = faults_decide(CLASS_SYNC).error;
    faults_unlock();
    if (error == 0) return real(fd, offset, count, flags);
    errno = error;
    return -1;
}
// The file of a mapping is unknown, so only the fault is injected. No engine here writes through a mapping.
int msync(void *address, size_t count, int flags) {
    REAL("msync", int, void *, size_t, int);
    faults_lock();
    int error = faults_decide(CLASS_SYNC).error;
    faults_unlock();
    if (error == 0) return real(address, count, flags);
    errno = error;
    return -1;
}

// MARK: Names

static int renamed(int old_folder, const char *old, int new_folder, const char *new, unsigned flags) {
    REAL("renameat2", int, int, const char *, int, const char *, unsigned);
    char from[PATH_MAX], to[PATH_MAX];
    int is_below = faults_path(old_folder, old, from);
    is_below |= faults_path(new_folder, new, to);
    if (!is_below) return real(old_folder, old, new_folder, new, flags);
    faults_lock();
    int error = faults_decide(CLASS_RENAME).error;
    int result = -1;
    if (error == 0) {
        result = real(old_folder, old, new_folder, new, flags);
        error = errno;
        if (result == 0) faults_record_paths(OP_RENAME, from, to);
    }
    faults_unlock();
    errno = error;
    return result;
}
int rename(const char *old, const char *new) { return renamed(AT_FDCWD, old, AT_FDCWD, new, 0); }
int renameat(int old_folder, const char *old, int new_folder, const char *new) { return renamed(old_folder, old, new_folder, new, 0); }
int renameat2(int old_folder, const char *old, int new_folder, const char *new, unsigned flags) {
    return renamed(old_folder, old, new_folder, new, flags);
}

static int linked(int old_folder, const char *old, int new_folder, const char *new, int flags) {
    REAL("linkat", int, int, const char *, int, const char *, int);
    char from[PATH_MAX], to[PATH_MAX];
    int is_below = faults_path(old_folder, old, from);
    is_below |= faults_path(new_folder, new, to);
    if (!is_below) return real(old_folder, old, new_folder, new, flags);
    faults_lock();
    int error = faults_decide(CLASS_LINK).error;
    int result = -1;
    if (error == 0) {
        result = real(old_folder, old, new_folder, new, flags);
        error = errno;
        if (result == 0) faults_record_paths(OP_LINK, from, to);
    }
    faults_unlock();
    errno = error;
    return result;
}
int link(const char *old, const char *new) { return linked(AT_FDCWD, old, AT_FDCWD, new, 0); }
int linkat(int old_folder, const char *old, int new_folder, const char *new, int flags) {
    return linked(old_folder, old, new_folder, new, flags);
}

static int removed(int folder, const char *path, int flags) {
    REAL("unlinkat", int, int, const char *, int);
    char full[PATH_MAX];
    if (!faults_path(folder, path, full)) return real(folder, path, flags);
    faults_lock();
    int error = faults_decide(CLASS_UNLINK).error;
    // Removing a file needs no space.
    if (error == ENOSPC) error = EIO;
    int result = -1;
    if (error == 0) {
        result = real(folder, path, flags);
        error = errno;
        if (result == 0) faults_record(flags & AT_REMOVEDIR ? OP_RMDIR : OP_UNLINK, -1, 0, 0, full, strlen(full));
    }
    faults_unlock();
    errno = error;
    return result;
}
int unlink(const char *path) { return removed(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return removed(AT_FDCWD, path, AT_REMOVEDIR); }
int unlinkat(int folder, const char *path, int flags) { return removed(folder, path, flags); }
int remove(const char *path) {
    int result = removed(AT_FDCWD, path, 0);
    return result < 0 && errno == EISDIR ? removed(AT_FDCWD, path, AT_REMOVEDIR) : result;
}

static int made(int folder, const char *path, mode_t mode) {
    REAL("mkdirat", int, int, const char *, mode_t);
    char full[PATH_MAX];
    if (!faults_path(folder, path, full)) return real(folder, path, mode);
    faults_lock();
    int error = faults_decide(CLASS_MKDIR).error;
    int result = -1;
    if (error == 0) {
        result = real(folder, path, mode);
        error = errno;
        if (result == 0) faults_record(OP_MKDIR, -1, 0, 0, full, strlen(full));
    }
    faults_unlock();
    errno = error;
    return result;
}
int mkdir(const char *path, mode_t mode) { return made(AT_FDCWD, path, mode); }
int mkdirat(int folder, const char *path, mode_t mode) { return made(folder, path, mode); }

// MARK: Maps and reading

static void *mapped(void *address, size_t count, int protection, int flags, int fd, off_t offset) {
    REAL("mmap64", void *, void *, size_t, int, int, int, off_t);
    if ((flags & MAP_ANONYMOUS) || !(faults_flags(fd) & IS_WATCHED)) return real(address, count, protection, flags, fd, offset);
    faults_lock();
    int error = faults_decide(CLASS_MMAP).error;
    faults_unlock();
    if (error == 0) return real(address, count, protection, flags, fd, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}
void *mmap(void *address, size_t count, int protection, int flags, int fd, off_t offset) {
    return mapped(address, count, protection, flags, fd, offset);
}
void *mmap64(void *address, size_t count, int protection, int flags, int fd, off64_t offset) {
    return mapped(address, count, protection, flags, fd, offset);
}

static ssize_t read_at(int fd, void *bytes, size_t count, off_t offset) {
    REAL("pread64", ssize_t, int, void *, size_t, off_t);
    if (!(faults_flags(fd) & IS_WATCHED)) return real(fd, bytes, count, offset);
    faults_lock();
    int error = faults_decide(CLASS_READ).error;
    faults_unlock();
    if (error == 0) return real(fd, bytes, count, offset);
    errno = EIO;
    return -1;
}
ssize_t pread(int fd, void *bytes, size_t count, off_t offset) { return read_at(fd, bytes, count, offset); }
ssize_t pread64(int fd, void *bytes, size_t count, off64_t offset) { return read_at(fd, bytes, count, offset); }
ssize_t read(int fd, void *bytes, size_t count) {
    REAL("read", ssize_t, int, void *, size_t);
    if (!(faults_flags(fd) & IS_WATCHED)) return real(fd, bytes, count);
    faults_lock();
    int error = faults_decide(CLASS_READ).error;
    faults_unlock();
    if (error == 0) return real(fd, bytes, count);
    errno = EIO;
    return -1;
}
