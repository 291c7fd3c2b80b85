#ifndef POLYSTORE_CLMDB_SHIM_H
#define POLYSTORE_CLMDB_SHIM_H

#include <lmdb.h>

#endif
