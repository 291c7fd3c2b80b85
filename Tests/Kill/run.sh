#!/usr/bin/env bash
# Kills a writer at random times, and checks that every acknowledged commit is complete, that no commit is partial, and that searches find what the texts contain.
# With one caller, some of the killed processes drop the full-text index, and those after them build it in the background.
# usage: run.sh [ENGINE] [KILLS] [CALLERS]      ENGINE: sqlite, lmdb, leveldb; CALLERS: one, many
# SEED=n repeats the random times.
set -euo pipefail
[ -z "${SEED:-}" ] || RANDOM=$SEED
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
engine=${1:-sqlite}
kills=${2:-12}
callers=${3:-one}
child=$(scripts/child.sh kill-child)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

suffix=$([ "$callers" = many ] && echo -many || true)
last=0
: >"$folder/all"
for kill in $(seq "$kills"); do
    mode=write$suffix
    check=check$suffix
    if [ "$callers" = one ]; then
        [ $((RANDOM % 3)) = 0 ] && mode=write-plain
        # Half of the checks use the index while it is being built, and leave an interrupted build to the next process.
        [ $((RANDOM % 2)) = 0 ] && check=check-built
    fi
    "$child" "$mode" "$engine" "$folder/store" >"$folder/acknowledged" &
    pid=$!
    # Before the store is open, or up to some hundred commits later. Each run continues with the store of the previous one.
    sleep "0.$(printf '%03d' $((RANDOM % 400)))"
    kill -9 "$pid" 2>/dev/null || { echo "kill $kill: the writer had ended by itself"; exit 1; }
    wait "$pid" 2>/dev/null || true
    # The last line may be truncated; only complete lines count.
    whole=$(wc -l <"$folder/acknowledged")
    if [ "$callers" = many ]; then
        head -n "$whole" "$folder/acknowledged" >>"$folder/all"
        expected=$folder/all
    else
        seen=$(head -n "$whole" "$folder/acknowledged" | awk 'END { print n + 0 } /^[0-9]+$/ { n = $0 }')
        [ "$seen" -gt "$last" ] && last=$seen
        expected=$last
    fi
    "$child" "$check" "$engine" "$folder/store" "$expected" >"$folder/checked" || { echo "kill $kill: $(cat "$folder/checked")"; exit 1; }
done
echo "kill: $kills kills on $engine with $callers calling, $(cat "$folder/checked"), nothing lost and nothing torn"
