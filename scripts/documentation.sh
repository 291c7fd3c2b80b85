#!/usr/bin/env bash
# Builds the documentation of the modules with the DocC of the toolchain, and fails on a warning.
#
# usage: scripts/documentation.sh [MODULE…]     after `swift build`; without modules, all of them
#        scripts/documentation.sh --docc        prints the path of docc
#
# Writes .build/documentation/MODULE.doccarchive.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "$(uname)" = Darwin ]; then
    docc=$(xcrun --find docc 2>/dev/null || true)
else
    docc=$(command -v docc || true)
    beside=$(dirname "$(readlink -f "$(command -v swift || echo swift)")")/docc
    if [ -z "$docc" ] && [ -x "$beside" ]; then docc=$beside; fi
fi
if [ -z "$docc" ]; then
    echo "docc is missing. Install a toolchain that contains it, from https://swift.org/install, or Xcode." >&2
    exit 1
fi
if [ "${1:-}" = --docc ]; then
    echo "$docc"
    exit
fi

graphs=.build/symbol-graphs
output=.build/documentation
rm -rf "$graphs"
scripts/public-api.py --symbol-graphs "$graphs" "$@"
mkdir -p "$output"
failures=()
for graph in "$graphs"/*; do
    module=${graph##*/}
    catalogue=$(find Sources Backends Conformance -type d -name "$module.docc")
    rm -rf "$output/$module.doccarchive"
    "$docc" convert "$catalogue" --additional-symbol-graph-dir "$graph" --output-dir "$output/$module.doccarchive" \
        --fallback-display-name "$module" --fallback-bundle-identifier "PolyStore.$module" --fallback-default-module-kind Module \
        --warnings-as-errors || failures+=("$module")
done
if [ ${#failures[@]} -gt 0 ]; then
    echo "The documentation of these modules has warnings: ${failures[*]}" >&2
    exit 1
fi
echo "The documentation is in $output. Serve a folder MODULE.doccarchive with a web server, or open it in Xcode."
