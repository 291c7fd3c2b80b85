#!/usr/bin/env bash
# Kills an import at random times and restarts it until the file is imported, then checks that every record was imported once.
# usage: import.sh [ENGINE] [KILLS] [RECORDS]      ENGINE: sqlite, lmdb, leveldb; RECORDS: of the file, which is imported into several stores
# SEED=n repeats the random times.
set -euo pipefail
[ -z "${SEED:-}" ] || RANDOM=$SEED
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
engine=${1:-sqlite}
kills=${2:-12}
records=${3:-2000}
child=$(scripts/child.sh kill-child)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$child" make-file "$engine" "$folder/rows.jsonl" "$records"
refused=$((records / 100))
killed=0
imports=0
while [ "$killed" -lt "$kills" ]; do
    rm -rf "$folder"/store*
    while true; do
        "$child" import "$engine" "$folder/store" "$folder/rows.jsonl" >"$folder/report" 2>"$folder/errors" &
        pid=$!
        # Before the store is open, or up to some dozen batches later.
        sleep "0.$(printf '%03d' $((20 + RANDOM % 480)))"
        if [ "$killed" -lt "$kills" ] && kill -9 "$pid" 2>/dev/null; then
            wait "$pid" 2>/dev/null || true
            # An import that has printed its report is complete.
            [ -s "$folder/report" ] && break
            killed=$((killed + 1))
            continue
        fi
        wait "$pid" || { echo "import $imports: $(cat "$folder/errors")"; exit 1; }
        break
    done
    imports=$((imports + 1))
    expected="$records records, $((records - refused)) inserted, $refused refused"
    [ "$(cat "$folder/report")" = "$expected" ] || { echo "import $imports: the report is '$(cat "$folder/report")', expected '$expected'"; exit 1; }
    "$child" check-import "$engine" "$folder/store" "$records" >"$folder/checked" 2>&1 || { echo "import $imports: $(cat "$folder/checked")"; exit 1; }
done
echo "kill: $killed kills of $imports imports on $engine, $(cat "$folder/checked") each, none lost and none twice"
