# The commands of the README, and their dependencies.
BACKEND ?= sqlite
FORMAT ?= text
SECONDS ?= 60
PREFIX ?= /usr/local
MUTANTS ?=

.PHONY: demo tool install-tool check test thorough setup test-names conformance conformance-report stress stress-races fuzz mutants custom-backend bench bench-full bench-smoke cliffs instructions lint documentation clean

## Imports the atlas into BACKEND (sqlite, lmdb, leveldb, memory) and queries it.
demo: setup
	swift run --package-path Examples --scratch-path .build --disable-build-manifest-caching atlas $(BACKEND)

## Builds the tool, .build/release/polystore.
tool: setup
	swift build -c release --package-path Tools/polystore --scratch-path .build --disable-build-manifest-caching --product polystore

## Copies the tool to PREFIX/bin.
install-tool: tool
	install -d "$(PREFIX)/bin"
	install -m 755 .build/release/polystore "$(PREFIX)/bin/polystore"

## Runs what a contributor runs before a commit: a fixed list of quick tests, the format, and the suites of the modules changed since HEAD.
check: setup
	@scripts/ring.py check

## Runs all tests, the conformance suite and the programs that must not compile.
test: setup
	@scripts/ring.py test

## Runs everything in full size, in some hours. It continues where it ended, and writes a report.
thorough: setup
	@scripts/ring.py thorough

## Lists the names of all tests and conformance cases in Tests/names.txt. Run it when they change.
test-names: setup
	swift build --build-tests --disable-build-manifest-caching
	scripts/test-names.py

## Runs the conformance suite only.
conformance: setup
	swift test --filter Conformance

## Prints the capabilities and the conformance results of each built-in backend as a table in FORMAT (text, markdown).
conformance-report: setup
	@swift run --quiet --disable-build-manifest-caching conformance-report $(FORMAT)

## Runs the stress tests on each engine for SECONDS each, and compares the results with an oracle.
stress: setup
	Tests/Stress/run.sh $(SECONDS)

## The same with the thread sanitizer.
stress-races: setup
	SANITIZE=thread Tests/Stress/run.sh $(SECONDS)

## Fuzzes the readers of JSON, JSON Lines and CSV for SECONDS each.
fuzz:
	Tests/Fuzz/run.sh $(SECONDS)

## Plants each defect of Tests/Mutants/mutants.txt in a copy of the product, and lists those that the tests do not detect. Takes hours, and can be interrupted
## and continued. MUTANTS are options of Tests/Mutants/run.py, such as "--draw 6".
mutants: setup
	Tests/Mutants/run.py $(MUTANTS)

## Tests the backend of the guide, and checks that it is as short as the guide states.
custom-backend:
	swift test --package-path Examples/CustomBackend --scratch-path .build --disable-build-manifest-caching
	@Examples/CustomBackend/check.sh

## Compares PolyStore with C programs on the same engines and with GRDB, in a few minutes; see Benchmarks/README.md.
bench: setup
	Benchmarks/run.py --quick

## The same with up to a million rows, in about an hour; redraws the chart.
bench-full: setup
	Benchmarks/run.py --full --chart Benchmarks/chart.svg

## Runs every workload of every program except GRDB's once, with few rows, and checks that they do the same work.
bench-smoke: setup
	Benchmarks/run.py --smoke --no-grdb
	Benchmarks/cliffs.py --smoke

## Measures many small changes at n and at 4 n rows; fails if the cost is not proportional.
cliffs: setup
	Benchmarks/cliffs.py --size 25000

## Counts the instructions of the hottest paths, and compares them with Benchmarks/instructions.json. Needs valgrind.
instructions: setup
	Benchmarks/instructions.py

lint:
	swift format lint --strict --recursive Package.swift Sources Backends Conformance Tests Examples/Package.swift Examples/Atlas Examples/LiveList Examples/QuickStart Examples/Shop \
		Examples/CustomBackend/Package.swift Examples/CustomBackend/Sources Examples/CustomBackend/Tests Tools/polystore/Package.swift Tools/polystore/Sources Tools/polystore/Tests \
		Benchmarks/Package.swift Benchmarks/Models Benchmarks/Sources Benchmarks/PeerKit/Package.swift Benchmarks/PeerKit/Sources \
		Benchmarks/Peers/Memory Benchmarks/Peers/GRDB/Package.swift Benchmarks/Peers/GRDB/Sources

## Builds the documentation of every module with DocC, and fails on a warning.
documentation: setup
	swift build
	scripts/documentation.sh

## Installs missing C libraries.
setup:
	@scripts/setup.sh

clean:
	rm -rf .build .build-tsan .build-asan .build-mutants Examples/.build Examples/CustomBackend/.build Benchmarks/.build Benchmarks/Peers/GRDB/.build Benchmarks/Peers/build Benchmarks/results \
		atlas.db atlas.db-wal atlas.db-shm atlas.lmdb atlas.lmdb-lock atlas.leveldb
