#!/usr/bin/env bash
# Makes system calls fail during a migration, and checks that the store is the old one, the new one, or one whose migration resumes.
# usage: [CONFIGURATION=release] migrate.sh [ENGINE] [POINTS] [ROWS]      ENGINE: sqlite, lmdb, leveldb; POINTS: number of runs, with one failing call each
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
engine=${1:-sqlite}
points=${2:-12}
rows=${3:-2000}
configuration=${CONFIGURATION:-debug}
child=$(scripts/child.sh migration-child --configuration "$configuration")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
${CC:-cc} -O1 -shared -fPIC -o "$folder/libfaults.so" Tests/Faults/shim/*.c -ldl -lpthread

mkdir "$folder/pristine" "$folder/run"
"$child" make "$engine" "$folder/pristine/store" "$rows"

fresh() {
    rm -rf "$folder/run"
    cp -a --reflink=auto "$folder/pristine" "$folder/run"
}

# The number of calls of a complete migration.
fresh
LD_PRELOAD="$folder/libfaults.so" FAULTS_ROOT="$folder/run" FAULTS_COUNT="$folder/count" "$child" migrate "$engine" "$folder/run/store" >/dev/null
calls=$(od -An -t u8 -N 8 "$folder/count" | tr -d ' ')
[ "$calls" -gt 0 ] || { echo "no call was counted"; exit 1; }

old=0
new=0
for point in $(seq "$points"); do
    at=$((1 + (point - 1) * calls / points))
    error=$([ $((point % 2)) = 0 ] && echo EIO || echo ENOSPC)
    mode=$([ $((point / 2 % 2)) = 0 ] && echo once || echo from)
    fresh
    rm -f "$folder/count"
    ended=0
    LD_PRELOAD="$folder/libfaults.so" FAULTS_ROOT="$folder/run" FAULTS_COUNT="$folder/count" FAULTS_AT="$at" FAULTS_ERROR="$error" FAULTS_MODE="$mode" \
        "$child" migrate "$engine" "$folder/run/store" >"$folder/report" 2>"$folder/errors" || ended=$?
    # An error of the store gives exit status 1; a crash gives a higher one.
    [ "$ended" -le 1 ] || { echo "call $at, $error $mode: exit $ended: $(cat "$folder/errors")"; exit 1; }
    "$child" check-old "$engine" "$folder/run/store" "$rows" >"$folder/checked" 2>&1 || { echo "call $at, $error $mode: $(cat "$folder/checked")"; exit 1; }
    if [ "$(cat "$folder/checked")" = new ]; then
        new=$((new + 1))
    else
        # An acknowledged migration must be in the store.
        ! grep -q migrated "$folder/report" || { echo "call $at, $error $mode: the migration was reported and is not there"; exit 1; }
        old=$((old + 1))
        "$child" migrate "$engine" "$folder/run/store" >/dev/null 2>"$folder/errors" || { echo "call $at, $error $mode: again: $(cat "$folder/errors")"; exit 1; }
        "$child" check "$engine" "$folder/run/store" "$rows" >"$folder/checked" 2>&1 || { echo "call $at, $error $mode: again: $(cat "$folder/checked")"; exit 1; }
        [ "$(cat "$folder/checked")" = new ] || { echo "call $at, $error $mode: the second migration ended in the old version"; exit 1; }
    fi
done
echo "faults: $points of $calls calls failed in migrations of $rows rows on $engine: $old times the old store, which was migrated then, $new times the new one"
