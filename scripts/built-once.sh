#!/usr/bin/env bash
# Checks that no module of the test bundle is built for the host, too, by the plan of the last build in .build/debug.yaml.
# A test that depends on the target of the macros itself is built for the host, and so is every other module of the bundle.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
grep -qE 'C\.PolyStoreMacros-[^"]*-tool\.module' .build/debug.yaml || { echo "the plan in .build/debug.yaml is not that of this package"; exit 1; }
twice=$(grep -oE 'C\.[A-Za-z]+-[^"]*-tool\.module' .build/debug.yaml | sort -u | grep -vE '^C\.(PolyStoreMacros|Swift|_Swift)' || true)
[ -z "$twice" ] || { printf 'built for the host, too:\n%s\n' "$twice"; exit 1; }
echo "each module is built once"
