#!/usr/bin/env bash
# Checks that the compiler refuses programs that pass an object into or out of its transaction or snapshot.
#
# Each file in refused/ must fail to compile with the message in its line "// expected: …". The files in accepted/ must compile,
# so that a refusal has the expected cause. As many programs are compiled at once as the machine has processors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# Compiles to SIL, because sending errors are reported after type checking. The output quotes only the lines of errors, not the expected message above them.
compile() { swiftc -emit-sil -wmo -diagnostic-style llvm -o /dev/null -swift-version 6 -parse-as-library -I "$MODULES" -I Sources/CRecordBytes/include -I Sources/CObjectRetain/include Tests/Confinement/Support.swift "$1" 2>&1; }

# Prints what is wrong with one program.
check() {
    local file=$1 output expected
    if [ "$(basename "$(dirname "$file")")" = accepted ]; then
        output=$(compile "$file") || printf 'FAILED %s should compile:\n%s\n' "$file" "$output"
        return 0
    fi
    expected=$(sed -n 's|^// expected: ||p' "$file")
    if [ -z "$expected" ]; then
        printf 'FAILED %s has no line "// expected: …"\n' "$file"
    elif output=$(compile "$file"); then
        printf 'FAILED %s compiles, and must not\n' "$file"
    elif ! grep -qF -- "$expected" <<<"$output"; then
        printf 'FAILED %s is refused for another reason than "%s":\n%s\n' "$file" "$expected" "$output"
    fi
}

# The script runs itself for each program.
if [ $# -eq 1 ]; then
    check "$1"
    exit
fi

modules=$PWD/.build/debug/Modules
[ -e "$modules/PolyStoreCore.swiftmodule" ] || swift build --target PolyStoreCore
export MODULES=$modules
failures=$(printf '%s\0' Tests/Confinement/accepted/*.swift Tests/Confinement/refused/*.swift \
    | xargs -0 -n 1 -P "$(getconf _NPROCESSORS_ONLN)" Tests/Confinement/check.sh) \
    || { printf '%s\nFAILED a check ended early\n' "$failures"; exit 1; }
[ -z "$failures" ] || { printf '%s\n' "$failures"; exit 1; }

count=$(find Tests/Confinement/refused -name '*.swift' | wc -l | tr -d ' ')
[ "$count" -ge 22 ] || { printf 'FAILED only %s programs were tried\n' "$count"; exit 1; }
printf 'confinement: %s programs that leak an object are refused by the compiler\n' "$count"
