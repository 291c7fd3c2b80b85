#!/usr/bin/env bash
# Fuzzes every reader of PolyStoreFormats; see Tests/Fuzz/Support/FormatFuzzer.swift for the invariants.
# usage: run.sh [SECONDS] [SEED]      SECONDS for each reader. A failing case prints its seed; run.sh 1 SEED repeats it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-60}
seed=${2:-$(($(date +%s) * 1000))}
child=$(scripts/child.sh fuzz-child)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for reader in json jsonl csv; do
    if ! "$child" $reader "$seconds" "$seed" "$folder/state"; then
        echo "failed: $reader, seed $(od -An -t u8 "$folder/state" | tr -d ' ')" >&2
        exit 1
    fi
done
