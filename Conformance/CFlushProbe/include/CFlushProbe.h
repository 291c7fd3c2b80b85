#ifndef POLYSTORE_FLUSH_PROBE_H
#define POLYSTORE_FLUSH_PROBE_H

#include <stdint.h>

// Counts the flushes of files below a folder. A program that links this library overrides fsync, fdatasync and msync with functions that count the call
// and then call the system's function. Supported on Linux only, where the dynamic linker allows it.

/// Returns a number for `polystore_flush_probe_count`; -1 if flushes cannot be counted.
int polystore_flush_probe_begin(const char *folder);
uint64_t polystore_flush_probe_count(int probe);
/// Sets the function that is called after each flush that the calling thread makes below the folder; NULL for none.
void polystore_flush_probe_observe(int probe, void (*observer)(void *), void *context);
/// Lets all flushes of folders below the folder of the probe fail with an error number; 0 for none.
void polystore_flush_probe_fail_folders(int probe, int error);
void polystore_flush_probe_end(int probe);

#endif
