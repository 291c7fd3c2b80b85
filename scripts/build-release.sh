#!/usr/bin/env bash
# Builds the products in release, because the optimizer reports problems that a debug build does not, and the benchmark's programs with them.
# usage: build-release.sh [TARGET…]      additional targets, such as PolyStoreConformance
# The macros are excluded: a release build of swift-syntax takes ten minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
options=(-c release --scratch-path .build --disable-build-manifest-caching)
for target in PolyStoreGzip "$@"; do swift build "${options[@]}" --target "$target"; done
swift build "${options[@]}" --package-path Benchmarks --product bench
swift build "${options[@]}" --package-path Benchmarks --product peer-memory
compiled=$(find .build/release/ -path '*SwiftSyntax*' -name '*.o' | wc -l)
[ "$compiled" -eq 0 ] || { echo "$compiled object files of swift-syntax were built in release"; exit 1; }
echo "built in release, without swift-syntax"
