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

#endif
