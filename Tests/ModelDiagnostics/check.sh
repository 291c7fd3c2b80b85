#!/usr/bin/env bash
# Checks the compiler's diagnostics of mistakes in model classes: one error per mistake, at its line.
#
# A line in programs/*.swift that ends with "// error: TEXT" must be reported with a message that contains TEXT. No other error may be reported,
# and the compiler must not crash.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

modules=$PWD/.build/debug/Modules
plugin=$(dirname "$modules")/PolyStoreMacros-tool
[ -e "$plugin" ] && [ -e "$modules/PolyStore.swiftmodule" ] || swift build --target PolyStore
failed=0
mistakes=0

for file in Tests/ModelDiagnostics/programs/*.swift; do
    # "LINE TEXT" for each expected error.
    expected=$(sed -n 's|^\(.*\)// error: \(.*\)$|&|;t found;b;:found;=;s|.*// error: ||p' "$file" | paste -d' ' - -)
    status=0
    output=$(swiftc -typecheck -swift-version 6 -parse-as-library -I "$modules" -I Sources/CRecordBytes/include -I Sources/CObjectRetain/include \
        -load-plugin-executable "$plugin#PolyStoreMacros" "$file" 2>&1) || status=$?
    # The header line of each error: "PATH:LINE:COLUMN: error: MESSAGE". An error inside an expansion begins with "macro expansion".
    reported=$(grep -E '^(macro expansion )?[^ ][^|]*:[0-9]+:[0-9]+: error: ' <<<"$output" || true)
    if [ "$status" -gt 1 ]; then
        printf 'FAILED %s crashes the compiler (exit status %s):\n%s\n' "$file" "$status" "$(head -n 5 <<<"$output")"
        failed=1
        continue
    fi
    count=0
    while read -r line text; do
        [ -n "$line" ] || continue
        count=$((count + 1))
        if ! grep -F "$file:$line:" <<<"$reported" | grep -qF -- "$text"; then
            printf 'FAILED %s:%s is not reported with "%s"\n' "$file" "$line" "$text"
            failed=1
        fi
    done <<<"$expected"
    found=$(grep -c . <<<"$reported" || true)
    if [ "$found" -ne "$count" ]; then
        printf 'FAILED %s: %s errors are expected and %s are reported:\n%s\n' "$file" "$count" "$found" "$reported"
        failed=1
    fi
    mistakes=$((mistakes + count))
done

[ "$failed" -eq 0 ] || exit 1
[ "$mistakes" -ge 20 ] || { printf 'FAILED only %s mistakes were tried\n' "$mistakes"; exit 1; }
printf 'model diagnostics: %s mistakes are each reported once, at their line\n' "$mistakes"
