#ifndef POLYSTORE_CLEVELDB_SHIM_H
#define POLYSTORE_CLEVELDB_SHIM_H

#include <leveldb/c.h>
#include <sys/file.h>

#endif
