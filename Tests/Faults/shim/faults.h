// The common declarations of the preload library. See ../README.md for the environment variables.
#ifndef FAULTS_H
#define FAULTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum faults_class {
    CLASS_OPEN = 1 << 0,
    CLASS_WRITE = 1 << 1,
    CLASS_SYNC = 1 << 2,
    CLASS_TRUNCATE = 1 << 3,
    CLASS_RENAME = 1 << 4,
    CLASS_UNLINK = 1 << 5,
    CLASS_MKDIR = 1 << 6,
    CLASS_LINK = 1 << 7,
    CLASS_MMAP = 1 << 8,
    CLASS_READ = 1 << 9,
};

enum faults_operation {
    OP_OPEN = 1,       // descriptor, argument: flags; payload: path
    OP_CLOSE = 2,      // descriptor
    OP_WRITE = 3,      // descriptor, offset; payload: bytes; argument: 1 for a synchronous descriptor
    OP_SYNC = 4,       // descriptor
    OP_SYNC_FAILED = 5,
    OP_TRUNCATE = 6,   // descriptor, offset: new size
    OP_RENAME = 7,     // payload: old, NUL, new
    OP_UNLINK = 8,     // payload: path
    OP_MKDIR = 9,      // payload: path
    OP_RMDIR = 10,     // payload: path
    OP_LINK = 11,      // payload: old, NUL, new
    OP_MARK = 12,      // payload: the text that the program has written to the marker file
};

// The flags of descriptors of files below the watched folder.
enum { DESCRIPTOR_LIMIT = 65536 };
enum descriptor_flags { IS_WATCHED = 1, IS_MARKER = 2, IS_SYNCHRONOUS = 4, IS_APPENDING = 8 };
extern unsigned char faults_descriptors[DESCRIPTOR_LIMIT];

static inline unsigned faults_flags(int fd) { return fd >= 0 && fd < DESCRIPTOR_LIMIT ? faults_descriptors[fd] : 0; }

// The decision about one call.
struct faults_decision {
    int error;     // the errno of the failure, or 0 to execute the call
    int is_short;  // whether half of the bytes are written
};

void faults_lock(void);
void faults_unlock(void);
// Writes the absolute path to `full`, and returns whether it is below the watched folder.
int faults_path(int directory, const char *path, char *full);
int faults_is_marker(const char *full);
// Counts a call, and decides whether it fails. Requires the lock.
struct faults_decision faults_decide(enum faults_class class);
void faults_record(enum faults_operation operation, int fd, int64_t offset, int64_t argument, const void *payload, size_t count);
void faults_record_paths(enum faults_operation operation, const char *first, const char *second);

#endif
