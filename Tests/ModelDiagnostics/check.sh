#!/usr/bin/env bash
# Checks the compiler's diagnostics of mistakes in model classes: one error per mistake, at its line.
#
# A line in programs/*.swift that ends with "// error: TEXT" must be reported with a message that contains TEXT. No other error may be reported,
# and the compiler must not crash. As many programs are compiled at once as the machine has processors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# Prints what is wrong with the diagnostics of one program.
check() {
    local file=$1 expected output reported found line text status=0 count=0
    # "LINE TEXT" for each expected error.
    expected=$(sed -n 's|^\(.*\)// error: \(.*\)$|&|;t found;b;:found;=;s|.*// error: ||p' "$file" | paste -d' ' - -)
    output=$(swiftc -typecheck -swift-version 6 -parse-as-library -I "$MODULES" -I Sources/CRecordBytes/include -I Sources/CObjectRetain/include \
        -load-plugin-executable "$PLUGIN#PolyStoreMacros" "$file" 2>&1) || status=$?
    if [ "$status" -gt 1 ]; then
        printf 'FAILED %s crashes the compiler (exit status %s):\n%s\n' "$file" "$status" "$(head -n 5 <<<"$output")"
        return 0
    fi
    # The header line of each error: "PATH:LINE:COLUMN: error: MESSAGE". An error inside an expansion begins with "macro expansion".
    reported=$(grep -E '^(macro expansion )?[^ ][^|]*:[0-9]+:[0-9]+: error: ' <<<"$output" || true)
    while read -r line text; do
        [ -n "$line" ] || continue
        count=$((count + 1))
        if ! grep -F "$file:$line:" <<<"$reported" | grep -qF -- "$text"; then
            printf 'FAILED %s:%s is not reported with "%s"\n' "$file" "$line" "$text"
        fi
    done <<<"$expected"
    found=$(grep -c . <<<"$reported" || true)
    if [ "$found" -ne "$count" ]; then
        printf 'FAILED %s: %s errors are expected and %s are reported:\n%s\n' "$file" "$count" "$found" "$reported"
    fi
}

# The script runs itself for each program.
if [ $# -eq 1 ]; then
    check "$1"
    exit
fi

modules=$PWD/.build/debug/Modules
plugin=$(dirname "$modules")/PolyStoreMacros-tool
[ -e "$plugin" ] && [ -e "$modules/PolyStore.swiftmodule" ] || swift build --target PolyStore
export MODULES=$modules PLUGIN=$plugin
failures=$(printf '%s\0' Tests/ModelDiagnostics/programs/*.swift \
    | xargs -0 -n 1 -P "$(getconf _NPROCESSORS_ONLN)" Tests/ModelDiagnostics/check.sh) \
    || { printf '%s\nFAILED a check ended early\n' "$failures"; exit 1; }
[ -z "$failures" ] || { printf '%s\n' "$failures"; exit 1; }

mistakes=$(cat Tests/ModelDiagnostics/programs/*.swift | grep -c '// error: ')
[ "$mistakes" -ge 20 ] || { printf 'FAILED only %s mistakes were tried\n' "$mistakes"; exit 1; }
printf 'model diagnostics: %s mistakes are each reported once, at their line\n' "$mistakes"
