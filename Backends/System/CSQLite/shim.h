#pragma once
#include <sqlite3.h>

/* Macros that Swift cannot import, as functions. */
static inline sqlite3_destructor_type polystore_sqlite_transient(void) { return SQLITE_TRANSIENT; }
