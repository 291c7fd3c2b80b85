#include <leveldb/c.h>
#include <lmdb.h>
#include <sqlite3.h>
