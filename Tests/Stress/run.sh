#!/usr/bin/env bash
# Runs many threads and tasks concurrently on each engine; see Tests/Stress/Child/main.swift.
# usage: run.sh [SECONDS] [ENGINES] [MODES]      e.g. run.sh 60 "sqlite lmdb" threads
# SEED=n repeats the random choices; SANITIZE=thread detects data races, and SANITIZE=address errors of memory, in separate builds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-5}
engines=${2:-sqlite lmdb leveldb memory}
modes=${3:-threads mixed release observe}
options=()
if [ "${SANITIZE:-}" = thread ]; then
    options=(--sanitize=thread --scratch-path .build-tsan)
    # No suppressions. The run continues after a race, and exits with 66.
    export TSAN_OPTIONS="halt_on_error=0 exitcode=66 ${TSAN_OPTIONS:-}"
fi
if [ "${SANITIZE:-}" = address ]; then
    options=(--sanitize=address --scratch-path .build-asan)
    # The runtime keeps the metadata of types for the life of the process, which is not a leak.
    export ASAN_OPTIONS="detect_leaks=0 ${ASAN_OPTIONS:-}"
fi
child=$(scripts/child.sh stress-child "${options[@]}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for mode in $modes; do
    for engine in $engines; do
        mkdir "$folder/$mode-$engine"
        "$child" "$mode" "$engine" "$folder/$mode-$engine" "$seconds" ${SEED:+"$SEED"}
    done
done
