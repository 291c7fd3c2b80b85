#ifndef POLYSTORE_FLUSH_PROBE_H
#define POLYSTORE_FLUSH_PROBE_H

#include <stdint.h>

// Counts the flushes of files below a folder. A program that links this has fsync, fdatasync and msync of its own, which count and then call the
// system's; nothing else changes. Only where the dynamic linker lets a program do that: Linux.

/// A number for `polystore_flush_probe_count`; -1 where flushes cannot be counted.
int polystore_flush_probe_begin(const char *folder);
uint64_t polystore_flush_probe_count(int probe);
void polystore_flush_probe_end(int probe);

#endif
