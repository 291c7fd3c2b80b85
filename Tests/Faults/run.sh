#!/usr/bin/env bash
# Injects faults below an engine, simulates power failures, damages files and runs competing processes, and compares the stores with the expected contents.
# usage: run.sh ENGINE [WHAT] [AMOUNT] [SEED]
#   ENGINE  sqlite, lmdb, leveldb
#   WHAT    all, or one of: errors, kills, power, damage, races, clock
#   AMOUNT  the number of runs or images of each kind
#   SEED    the seed of all random choices
# Prints one line of figures for each kind, with up to five examples of failures. The exit status is 1 if anything is lost, wrong, unopenable or crashed that
# limits.txt does not list. CHILD is the path of a program that is built already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [ "$(uname)" != Linux ]; then
    echo "faults: left out: the preload library needs Linux"
    exit 0
fi
engine=${1:?"an engine is missing: sqlite, lmdb or leveldb"}
what=${2:-all}
amount=${3:-20}
seed=${4:-1}
if [ -z "${CHILD:-}" ]; then
    CHILD=$(scripts/child.sh fault-child)
fi
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
cc -O1 -Wall -Wextra -Werror -shared -fPIC -o "$built/libfaults.so" Tests/Faults/shim/*.c -ldl -lpthread
python3 Tests/Faults/harness/driver.py "$CHILD" "$built/libfaults.so" "$engine" "$what" "$amount" "$seed"
