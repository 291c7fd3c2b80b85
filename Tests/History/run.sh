#!/usr/bin/env bash
# Prints the latency of notifications about commits of another process.
# usage: run.sh [ENGINE] [COMMITS] [PAUSE]      ENGINE: sqlite, lmdb; PAUSE: milliseconds between two commits
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
engines=${1:-sqlite lmdb}
commits=${2:-500}
pause=${3:-20}
swift build -c release --product history-child
child=$(swift build -c release --show-bin-path)/history-child
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for engine in $engines; do "$child" latency "$engine" "$folder/$engine" "$commits" "$pause"; done
