#!/bin/sh
# Builds the benchmark into a folder: build.sh FOLDER
set -e
here=$(cd "$(dirname "$0")" && pwd)
sources=$here/../../Sources
mkdir -p "$1"
cd "$1"
flags="-O -wmo -parse-as-library -swift-version 6 -package-name polystore"
swiftc $flags -emit-module -emit-object -module-name PolyStoreSearch -o Search.o $(find "$sources/PolyStoreSearch" -name '*.swift')
swiftc $flags -I . -emit-module -emit-object -module-name PolyStoreSearchIndex -o Index.o $(find "$sources/PolyStoreSearchIndex" -name '*.swift')
swiftc -O -wmo -swift-version 5 -package-name polystore -I . -I "$here/Engines" "$here/main.swift" "$here/Pages.swift" Search.o Index.o -o search
gcc -O2 "$here/fts5.c" -o fts5 -lsqlite3
