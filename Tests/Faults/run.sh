#!/usr/bin/env bash
# Injects faults below an engine, cuts the power, damages files and lets processes race, and compares what is left with the truth.
# usage: run.sh ENGINE [WHAT] [AMOUNT] [SEED]
#   ENGINE  sqlite, lmdb, leveldb
#   WHAT    all, or one of: errors, kills, power, damage, races
#   AMOUNT  how many runs or images of each kind; CI takes few
#   SEED    what is drawn at random follows from it
# One line of figures is printed for each kind, with up to five examples of what went wrong. The exit status is 1 if anything was lost, wrong, unopenable or
# crashed that limits.txt does not list. CHILD names a program that is built already.
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
    swift build --product fault-child
    CHILD=$(swift build --show-bin-path)/fault-child
fi
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
cc -O1 -Wall -Wextra -Werror -shared -fPIC -o "$built/libfaults.so" Tests/Faults/shim/*.c -ldl -lpthread
python3 Tests/Faults/harness/driver.py "$CHILD" "$built/libfaults.so" "$engine" "$what" "$amount" "$seed"
