# The two commands of the README, and what they need.
BACKEND ?= sqlite
FORMAT ?= text
SECONDS ?= 60

.PHONY: demo test setup conformance conformance-report stress stress-races fuzz custom-backend bench bench-full bench-smoke cliffs instructions lint clean

## Imports the atlas into BACKEND (sqlite, lmdb, leveldb, memory) and asks questions about it.
demo: setup
	swift run --package-path Examples atlas $(BACKEND)

## Every test, the conformance suite and the programs that must not compile. Many tests have stores open at the same time: a system's default may be 256 files.
test: setup
	ulimit -S -n $$(ulimit -H -n) 2>/dev/null; swift test
	Tests/Confinement/check.sh
	Tests/ModelDiagnostics/check.sh

## The conformance suite alone.
conformance: setup
	swift test --filter Conformance

## What each built-in backend claims and how it fares in every case, as a table: FORMAT=markdown for one to paste.
conformance-report: setup
	@swift run --quiet conformance-report $(FORMAT)

## Many threads and tasks at once on each engine, SECONDS each, against an oracle.
stress: setup
	Tests/Stress/run.sh $(SECONDS)

## The same under the thread sanitizer.
stress-races: setup
	SANITIZE=thread Tests/Stress/run.sh $(SECONDS)

## Random inputs for the readers of JSON, JSON Lines and CSV, SECONDS each.
fuzz:
	Tests/Fuzz/run.sh $(SECONDS)

## The backend of the guide: its tests, and that it is as short as the guide says.
custom-backend:
	swift test --package-path Examples/CustomBackend
	@lines=$$(wc -l <Examples/CustomBackend/Sources/FileStore/FileEngine.swift) && [ $$lines -le 150 ] \
		|| { echo "FileEngine.swift has $$lines lines, and the guide says 150"; exit 1; }

## PolyStore against raw C on the same engines and against GRDB, in a few minutes; see Benchmarks/README.md.
bench: setup
	Benchmarks/run.py --quick

## The same with growth to a million rows, in about an hour; draws the chart anew.
bench-full: setup
	Benchmarks/run.py --full --chart Benchmarks/chart.svg

## Every workload of every program but GRDB's once, with few rows: that they work, and do the same work.
bench-smoke: setup
	Benchmarks/run.py --smoke --no-grdb
	Benchmarks/cliffs.py --smoke

## What many small changes cost at n and at 4 n: fails where that is not in proportion.
cliffs: setup
	Benchmarks/cliffs.py --size 25000

## What the hottest paths take in instructions, compared with Benchmarks/instructions.json. Needs valgrind.
instructions: setup
	Benchmarks/instructions.py

lint:
	swift format lint --strict --recursive Package.swift Sources Backends Conformance Tests Examples/Package.swift Examples/Atlas Examples/LiveList Examples/QuickStart \
		Examples/CustomBackend/Package.swift Examples/CustomBackend/Sources Examples/CustomBackend/Tests \
		Benchmarks/Package.swift Benchmarks/Sources Benchmarks/PeerKit/Package.swift Benchmarks/PeerKit/Sources \
		Benchmarks/Peers/Memory Benchmarks/Peers/GRDB/Package.swift Benchmarks/Peers/GRDB/Sources

## Installs the C libraries that are missing, and says so.
setup:
	@scripts/setup.sh

clean:
	rm -rf .build .build-tsan Examples/.build Examples/CustomBackend/.build Benchmarks/.build Benchmarks/Peers/GRDB/.build Benchmarks/Peers/build Benchmarks/results \
		atlas.db atlas.db-wal atlas.db-shm atlas.lmdb atlas.lmdb-lock atlas.leveldb
