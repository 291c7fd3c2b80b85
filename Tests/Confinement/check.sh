#!/usr/bin/env bash
# Checks that the compiler refuses programs that pass an object into or out of its transaction or snapshot.
#
# Each file in refused/ must fail to compile with the message in its line "// expected: …". The files in accepted/ must compile,
# so that a refusal has the expected cause.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

modules=$PWD/.build/debug/Modules
[ -e "$modules/PolyStoreCore.swiftmodule" ] || swift build --target PolyStoreCore
failed=0
count=0

# Compiles to SIL, because sending errors are reported after type checking.
compile() { swiftc -emit-sil -wmo -o /dev/null -swift-version 6 -parse-as-library -I "$modules" -I Sources/CRecordBytes/include -I Sources/CObjectRetain/include Tests/Confinement/Support.swift "$1" 2>&1; }

for file in Tests/Confinement/accepted/*.swift; do
    if ! output=$(compile "$file"); then
        printf 'FAILED %s should compile:\n%s\n' "$file" "$output"
        failed=1
    fi
done

for file in Tests/Confinement/refused/*.swift; do
    count=$((count + 1))
    expected=$(sed -n 's|^// expected: ||p' "$file")
    [ -n "$expected" ] || { printf 'FAILED %s has no line "// expected: …"\n' "$file"; failed=1; continue; }
    if output=$(compile "$file"); then
        printf 'FAILED %s compiles, and must not\n' "$file"
        failed=1
    elif ! grep -qF -- "$expected" <<<"$output"; then
        printf 'FAILED %s is refused for another reason than "%s":\n%s\n' "$file" "$expected" "$output"
        failed=1
    fi
done

[ "$failed" -eq 0 ] || exit 1
[ "$count" -ge 22 ] || { printf 'FAILED only %s programs were tried\n' "$count"; exit 1; }
printf 'confinement: %s programs that leak an object are refused by the compiler\n' "$count"
