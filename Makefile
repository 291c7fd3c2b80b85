# The two commands of the README, and what they need.
BACKEND ?= sqlite

.PHONY: demo test setup conformance lint clean

## Imports the atlas into BACKEND (sqlite, lmdb, leveldb, memory) and asks questions about it.
demo: setup
	swift run --package-path Examples atlas $(BACKEND)

## Every test, the conformance suite and the programs that must not compile.
test: setup
	swift test
	Tests/Confinement/check.sh

## The conformance suite alone.
conformance: setup
	swift test --filter Conformance

lint:
	swift format lint --strict --recursive Package.swift Sources Backends Conformance Tests Examples/Package.swift Examples/Atlas Examples/QuickStart \
		Benchmarks/Package.swift Benchmarks/Sources

## Installs the C libraries that are missing, and says so.
setup:
	@scripts/setup.sh

clean:
	rm -rf .build Examples/.build Benchmarks/.build atlas.db atlas.db-wal atlas.db-shm atlas.lmdb atlas.lmdb-lock atlas.leveldb
