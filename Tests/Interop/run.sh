#!/usr/bin/env bash
# Reads stores of the key-value engines with independent libraries.
# usage: run.sh [LMDB_ATLAS LEVELDB_ATLAS DATA_FOLDER]
# Checks sample stores that cover the whole file format; with arguments, also atlases, which it compares with their data files.
# Installs the Python packages lmdb and plyvel into a temporary folder; without a package index, POLYSTORE_SKIP_INTEROP=1 skips the checks.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT

unavailable() {
    echo "interop: $1"
    if [ -n "${POLYSTORE_SKIP_INTEROP:-}" ]; then
        echo "interop: SKIPPED, as POLYSTORE_SKIP_INTEROP is set: nobody else has read the LMDB and LevelDB stores"
        exit 0
    fi
    echo "interop: set POLYSTORE_SKIP_INTEROP=1 to go on without"
    exit 1
}

python3 -m venv "$environment" >"$environment/venv.log" 2>&1 \
    || unavailable "a virtual environment of Python cannot be made: $(tail -n 1 "$environment/venv.log")"
"$environment/bin/pip" install --quiet --disable-pip-version-check lmdb plyvel >"$environment/pip.log" 2>&1 \
    || unavailable "the package index cannot be reached, or has no lmdb and plyvel for this Python: $(tail -n 1 "$environment/pip.log")"

check() { "$environment/bin/python" "$here/check_$1.py" "${@:2}"; }

child=$(scripts/child.sh engine-child)
for engine in lmdb leveldb; do
    "$child" sample "$engine" "$environment/sample.$engine"
    check "$engine" "$environment/sample.$engine"
    "$child" evolve "$engine" "$environment/sample.$engine"
    check "$engine" "$environment/sample.$engine"
done
if [ $# -gt 0 ]; then
    check lmdb "$1" "$3"
    check leveldb "$2" "$3"
fi
