#!/usr/bin/env bash
# Watches a list in one process while another process writes, with Examples/LiveList on each engine that several processes can open.
# usage: run.sh      after `swift build --package-path Examples --scratch-path .build`
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
program=$PWD/.build/debug/livelist
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for store in sqlite:live.sqlite lmdb:live.lmdb; do
    "$program" write --store "$store" --changes 3 --pause 0
    "$program" watch --store "$store" --plain --changes 3 >live.txt &
    watcher=$!
    "$program" write --store "$store" --changes 60 --pause 100
    wait "$watcher"
    [ "$(grep -c '^[-+*~] ' live.txt)" -ge 3 ] || { echo "fewer than 3 changes of $store were seen:"; cat live.txt; exit 1; }
done
echo "a list follows the commits of another process on SQLite and LMDB"
