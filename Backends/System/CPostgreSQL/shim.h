#ifndef POLYSTORE_POSTGRESQL_SHIM_H
#define POLYSTORE_POSTGRESQL_SHIM_H

/* Debian keeps the headers in a folder of their own, which some tools do not search. */
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

/* The fields of an error, which are character constants in libpq's header. */
static const int polystore_pg_diag_sqlstate = PG_DIAG_SQLSTATE;
static const int polystore_pg_diag_message = PG_DIAG_MESSAGE_PRIMARY;
static const int polystore_pg_diag_table = PG_DIAG_TABLE_NAME;
static const int polystore_pg_diag_constraint = PG_DIAG_CONSTRAINT_NAME;

/* The status of a result with several rows of a larger one. */
static const unsigned polystore_pg_tuples_chunk = 12;

/* Lets the rows of the current statement arrive in results of up to a number of rows, which before libpq 17 have one row. On Linux the library can be newer than its headers. */
#if !defined(LIBPQ_HAS_CHUNK_MODE) && defined(__linux__)
extern int PQsetChunkedRowsMode(PGconn *connection, int rows) __attribute__((weak));
#endif

static inline int polystore_pg_set_rows_mode(PGconn *connection, int rows) {
#if defined(LIBPQ_HAS_CHUNK_MODE)
    if (rows > 1) return PQsetChunkedRowsMode(connection, rows);
#elif defined(__linux__)
    if (rows > 1 && PQsetChunkedRowsMode) return PQsetChunkedRowsMode(connection, rows);
#endif
    return PQsetSingleRowMode(connection);
}

#endif
