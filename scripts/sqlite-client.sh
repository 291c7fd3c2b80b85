#!/usr/bin/env bash
# Checks that a client of the SQLite backend needs no libpq: builds a small program on the products PolyStoreCore and PolyStoreSQLite, looks for PostgreSQL in its plan and in its binary,
# and runs it. As root on Linux, libpq is hidden from the build and from the program.
# usage: scripts/sqlite-client.sh [OPTION…]      after `swift build`; options of `swift build`, by default --scratch-path .build, whose modules are used
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
[ $# -gt 0 ] || set -- --scratch-path .build
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/client/Sources/client" "$folder/empty"
cat >"$folder/client/Package.swift" <<END
// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "client", platforms: [.macOS(.v15)], dependencies: [.package(name: "PolyStore", path: "$root")],
    targets: [
        .executableTarget(
            name: "client",
            dependencies: [.product(name: "PolyStoreCore", package: "PolyStore"), .product(name: "PolyStoreSQLite", package: "PolyStore")])
    ])
END
cat >"$folder/client/Sources/client/main.swift" <<'END'
import PolyStoreCore
import PolyStoreSQLite

let stack = try DataStack(Schema("Empty 1", []))
try stack.addStore(.sqlite(file: CommandLine.arguments[1]))
print("a store in SQLite is open")
END
# Hides the header, the description and the libraries of libpq in a mount namespace of its own.
cat >"$folder/hidden.sh" <<'END'
set -euo pipefail
if [ "$1" = hide ]; then
    for path in /usr/include/postgresql /usr/include/libpq-fe.h /usr/lib/*/pkgconfig/libpq.pc /usr/lib/*/libpq.so*; do
        [ -e "$path" ] || continue
        if [ -d "$path" ]; then mount --bind "$EMPTY" "$path"; else mount --bind /dev/null "$path"; fi
    done
fi
shift
exec "$@"
END
hide=show run=(env EMPTY="$folder/empty" bash "$folder/hidden.sh")
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then hide=hide run=(env EMPTY="$folder/empty" unshare -m bash "$folder/hidden.sh"); fi
build=(swift build --package-path "$folder/client" --disable-build-manifest-caching "$@" --product client)
"${run[@]}" "$hide" "${build[@]}" >"$folder/log" 2>&1 || { tail -40 "$folder/log"; exit 1; }
bin=$("${build[@]}" --show-bin-path)
plan=$({ ls -t "$(dirname "$(dirname "$bin")")"/{debug,release}.yaml 2>/dev/null || true; } | head -1)
PYTHONPATH=scripts python3 - "$plan" <<'END'
import pathlib
import sys

import build_plan

found = build_plan.modules(pathlib.Path(sys.argv[1]), "client-")
if not {"client", "PolyStoreCore", "PolyStoreSQLite"} <= found:
    sys.exit(f"{sys.argv[1]} is not the plan of the client: it reaches {', '.join(sorted(found)) or 'nothing'}")
if refused := sorted(name for name in found if "PostgreSQL" in name or "LevelDB" in name or "LMDB" in name):
    sys.exit(f"The client compiles {', '.join(refused)}.")
print(f"the client compiles {len(found)} modules")
END
if command -v ldd >/dev/null && ldd "$bin/client" | grep libpq; then echo "the client is linked with libpq"; exit 1; fi
"${run[@]}" "$hide" "$bin/client" "$folder/store.sqlite"
echo "a client of SQLite builds and runs without libpq$([ $hide = hide ] && echo ', which was hidden' || true)"
