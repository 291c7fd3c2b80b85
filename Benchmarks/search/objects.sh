#!/bin/sh
# W23, full-text search through the objects on every engine: objects.sh FOLDER [DOCUMENTS]; FOLDER has the corpus of run.sh and the program bench.
# BENCH names the program; BENCH_POSTGRESQL the database of PostgreSQL, which is left out without it.
set -e
folder=$1
documents=${2:-100000}
bench=${BENCH:-$folder/bench}
for engine in sqlite lmdb leveldb memory ${BENCH_POSTGRESQL:+postgresql}; do
    rm -rf "$folder/search.$engine"*
    BENCH_OPTIONS=$([ "$engine" = lmdb ] && echo "?mapSize=16g" || true) "$bench" "$engine" W23 "$folder" "$documents"
done
