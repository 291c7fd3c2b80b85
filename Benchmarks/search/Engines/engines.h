#include <lmdb.h>
#include <sqlite3.h>
