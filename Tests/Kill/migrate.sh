#!/usr/bin/env bash
# Kills a migration at random times, and checks that the store is the old one, the new one, or one whose migration resumes.
# usage: [CONFIGURATION=release] migrate.sh [ENGINE] [KILLS] [ROWS]      ENGINE: sqlite, lmdb, leveldb; ROWS: of the store, which is migrated repeatedly
# SEED=n repeats the random times.
set -euo pipefail
[ -z "${SEED:-}" ] || RANDOM=$SEED
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
engine=${1:-sqlite}
kills=${2:-12}
rows=${3:-4000}
configuration=${CONFIGURATION:-debug}
child=$(scripts/child.sh migration-child --configuration "$configuration")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$child" make "$engine" "$folder/store" "$rows"
mkdir "$folder/pristine"
cp -a "$folder"/store* "$folder/pristine/"

# The duration of a complete migration on this machine, in milliseconds.
start=$(date +%s%3N)
"$child" migrate "$engine" "$folder/store" >/dev/null
length=$(($(date +%s%3N) - start + 50))
[ "$("$child" check "$engine" "$folder/store" "$rows")" = new ] || { echo "the migration does not lead to the new version"; exit 1; }

killed=0
old=0
new=0
finished=0
continued=0
removed=0
while [ "$killed" -lt "$kills" ]; do
    rm -rf "$folder"/store*
    cp -a --reflink=auto "$folder"/pristine/. "$folder/"
    while true; do
        "$child" migrate "$engine" "$folder/store" >"$folder/report" 2>"$folder/errors" &
        pid=$!
        delay=$(((RANDOM * 32768 + RANDOM) % length))
        sleep "$((delay / 1000)).$(printf '%03d' $((delay % 1000)))"
        if [ "$killed" -lt "$kills" ] && kill -9 "$pid" 2>/dev/null; then
            wait "$pid" 2>/dev/null || true
            killed=$((killed + 1))
            if grep -q continued "$folder/report"; then continued=$((continued + 1)); fi
            # In one of four cases the old version of the application opens the store.
            mode=check
            [ $((RANDOM % 4)) = 0 ] && mode=check-old
            "$child" "$mode" "$engine" "$folder/store" "$rows" >"$folder/checked" 2>&1 || { echo "kill $killed: $(cat "$folder/checked")"; exit 1; }
            if [ "$(cat "$folder/checked")" = new ]; then
                new=$((new + 1))
                break
            fi
            # An acknowledged migration must be in the store.
            ! grep -q migrated "$folder/report" || { echo "kill $killed: the migration was reported and is not there"; exit 1; }
            old=$((old + 1))
            [ "$mode" = check-old ] && removed=$((removed + 1))
            continue
        fi
        wait "$pid" || { echo "migration $finished: $(cat "$folder/errors")"; exit 1; }
        "$child" check "$engine" "$folder/store" "$rows" >"$folder/checked" 2>&1 || { echo "migration $finished: $(cat "$folder/checked")"; exit 1; }
        [ "$(cat "$folder/checked")" = new ] || { echo "migration $finished ended in the old version"; exit 1; }
        if grep -q continued "$folder/report"; then continued=$((continued + 1)); fi
        finished=$((finished + 1))
        break
    done
done
echo "kill: $killed kills in the $length ms of a migration of $rows rows on $engine: $old times the old store, $removed of them opened by the old version," \
    "$new times the new one; $continued attempts continued where a killed one had saved, $finished attempts were left to end; nothing lost, nothing wrong"
