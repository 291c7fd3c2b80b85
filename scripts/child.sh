#!/usr/bin/env bash
# Builds a program of the tests, and prints its path.
# usage: child.sh PROGRAM [OPTIONS OF swift build]
# With POLYSTORE_BUILT set, the program is built already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=$1
shift
scratch=.build
configuration=debug
for ((i = 1; i <= $#; i++)); do
    next=$((i + 1))
    case "${!i}" in
    --scratch-path) scratch=${!next} ;;
    --configuration | -c) configuration=${!next} ;;
    esac
done
path=$scratch/$configuration/$program
if [ -z "${POLYSTORE_BUILT:-}" ] || [ ! -x "$path" ]; then swift build "$@" --product "$program" >&2; fi
echo "$PWD/$path"
