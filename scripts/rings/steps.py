"""The steps of the rings: what runs, in which size, and which changes make it necessary."""

import dataclasses
import hashlib
import os
import random
import re
import shutil

from .runner import CORES, Step

ENGINES = ["sqlite", "lmdb", "leveldb"]
BUILD = "swift build --disable-build-manifest-caching"
EXAMPLES = f"{BUILD} --package-path Examples --scratch-path .build"
TOOL = "--package-path Tools/polystore --scratch-path .build --disable-build-manifest-caching"
CUSTOM = "--package-path Examples/CustomBackend --scratch-path .build --disable-build-manifest-caching"
# What the kills and faults of an engine depend on, besides the contract.
ENGINE_SOURCES = {
    "sqlite": ["Backends/SQLite"],
    "lmdb": ["Backends/LMDB", "Sources/PolyStoreKeyValue"],
    "leveldb": ["Backends/LevelDB", "Sources/PolyStoreKeyValue"],
}
CONTRACT = ["Sources/PolyStoreBackend", "Sources/CRecordBytes"]
# What the full-text indexes in the stores of kills and faults depend on, besides the engine.
SEARCH = ["Sources/PolyStoreSearchIndex", "Sources/PolyStoreQuery/Searching"]
CORE = [
    "Sources/PolyStoreConditions", "Sources/PolyStoreKernel", "Sources/PolyStoreColumns", "Sources/PolyStorePredicates", "Sources/PolyStoreObservation", "Sources/PolyStoreHistory",
    "Sources/PolyStoreTransfer", "Sources/PolyStoreMigration", "Sources/PolyStoreConversion",
]

# Random programs that are compared with models: the name, the suite, the variables of their number and of the first one, and the sources.
RANDOM_PROGRAMS = [
    ("imports", "ChangingIDOracleTests", "POLYSTORE_IMPORT_RUNS", "POLYSTORE_IMPORT_FIRST", ["Sources/PolyStoreTransfer/Import"]),
    ("merges", "MergeOracleTests", "POLYSTORE_MERGE_PROGRAMS", "POLYSTORE_MERGE_FIRST", ["Sources/PolyStoreKernel/Transaction"]),
    ("two-processes", "TwoProcessTests", "POLYSTORE_TWO_PROCESS_COMMITS", "POLYSTORE_TWO_PROCESS_SEED",
     ["Sources/PolyStoreKernel/Transaction", "Sources/PolyStoreObservation", "Sources/PolyStoreHistory"]),
    ("callbacks", "CallbackOracleTests", "POLYSTORE_CALLBACK_COMMITS", "POLYSTORE_CALLBACK_FIRST",
     ["Sources/PolyStoreObservation", "Sources/PolyStoreKernel/Context", "Sources/PolyStoreKernel/Transaction"]),
    ("migrations", "RelationshipMatrixTests", "POLYSTORE_MATRIX_PAIRS", "POLYSTORE_MATRIX_FIRST",
     ["Sources/PolyStoreMigration", "Sources/PolyStoreBackend/Migration", "Sources/PolyStoreKeyValue/Migration", "Backends/SQLite/Migration"]),
    ("search-matcher", "MatcherTests", "POLYSTORE_SEARCH_QUERIES", "POLYSTORE_SEARCH_FIRST", ["Sources/PolyStoreSearch"]),
    ("search-fuzz", "SearchFuzzTests", "POLYSTORE_SEARCH_FUZZ", "POLYSTORE_SEARCH_FUZZ_FIRST", ["Sources/PolyStoreSearch"]),
]


def lacks(*commands):
    """Returns a function that says which of some commands is missing."""

    def reason():
        absent = [command for command in commands if not shutil.which(command)]
        return f"{', '.join(absent)} is missing" if absent else None

    return reason


def lacks_docc():
    return os.system("scripts/documentation.sh --docc >/dev/null 2>&1") and "docc is missing" or None


# What every commit must pass: `make test`.


def test():
    return [
        Step("build", f"{BUILD} --build-tests", cores=CORES),
        Step("tests", "scripts/run-tests.py", needs=("build",), cores=CORES),
        Step("confinement", "Tests/Confinement/check.sh", needs=("build",)),
        Step("model-diagnostics", "Tests/ModelDiagnostics/check.sh", needs=("build",)),
    ]


# What `.ci/run` adds for every commit.


def always():
    built = ("build",)
    atlas = " && ".join(
        f'.build/debug/atlas {backend} --path "$RING_RESULTS/atlas.{file}" >"$RING_RESULTS/{backend}.txt"'
        f' && grep -q "Counts in the store and in the files agree" "$RING_RESULTS/{backend}.txt"'
        f' && grep -q "Nothing of it was kept" "$RING_RESULTS/{backend}.txt"'
        for backend, file in [("sqlite", "db"), ("lmdb", "lmdb"), ("leveldb", "leveldb"), ("memory", "memory")])
    # SwiftPM locks the folder of builds, so its steps form a chain; the last one leaves a core to others.
    programs = ("build/custom-backend",)
    swiftpm = [item.name for item in items() if item.swiftpm and item.share is not None]
    return [
        Step("test-names", "scripts/test-names.py --check", needs=("build",), after=("tests",)),
        Step("built-once", "scripts/built-once.sh", needs=("build",), after=("tests",)),
        Step("format", "make --no-print-directory lint && echo 'every file has the format'"),
        Step("mutants/apply", "Tests/Mutants/run.py --check"),
        # Builds of other packages in the same folder: they find the modules of this one built.
        Step("build/examples", EXAMPLES, needs=("build",), after=("tests", "test-names", "built-once"), cores=CORES),
        Step("build/tool", f"swift build --build-tests {TOOL}", needs=("build/examples",), cores=CORES),
        Step("build/custom-backend", f"swift build --build-tests {CUSTOM} && scripts/backend-plan.py", needs=("build/tool",), cores=CORES),
        Step("custom-backend", f"swift test --skip-build {CUSTOM} && Examples/CustomBackend/check.sh", needs=programs, cores=CORES),
        # It writes the plan of its package, which the builds before it check.
        Step("tool", f"swift test --skip-build --ignore-lock --disable-xctest {TOOL}", needs=programs, after=("custom-backend", "sqlite-client"), cores=CORES),
        Step("sqlite-client", "scripts/sqlite-client.sh", needs=programs, after=("custom-backend",)),
        Step("build/release", "scripts/build-release.sh", needs=("build",), after=("custom-backend", "sqlite-client", "tests/full-size", *swiftpm)),
        Step("public-api", "scripts/public-api.py --check && echo 'the public API is what is listed'", needs=programs),
        Step("package-symbols", "scripts/package-symbols.py --check && echo 'the borders of the modules are what is listed'", needs=programs),
        Step("documentation", "scripts/documentation.sh", needs=programs, missing=lacks_docc),
        Step("guides", "Tests/Interop/check_readme.py && Tests/Interop/check_guides.py && Tests/Interop/check_architecture.py && Tests/Interop/check_identifiers.py && Tests/Interop/check_decisions.py", needs=programs),
        Step("type-checking", "Tests/TypeChecking/check.py", needs=programs),
        Step("examples/atlas", atlas + " && echo 'the atlas is imported and queried on every backend'", needs=programs),
        Step("examples/programs", 'bin=$PWD/.build/debug && cd "$RING_RESULTS" && "$bin/quickstart" && "$bin/shop"', needs=programs),
        Step("examples/live-list", "Tests/LiveList/run.sh", needs=programs),
        Step("interop/sqlite",
             'Tests/Interop/check_sqlite_page.py && Tests/Interop/check_sqlite.py "$RING_RESULTS/atlas.db" Examples/Atlas/Data',
             needs=("examples/atlas",)),
        Step("interop/key-value", 'Tests/Interop/run.sh "$RING_RESULTS/atlas.lmdb" "$RING_RESULTS/atlas.leveldb" Examples/Atlas/Data',
             needs=("examples/atlas",)),
        Step("interop/tool", 'Tests/Interop/check_tool.py "$RING_RESULTS"', needs=("examples/atlas", "build/tool")),
        Step("browser", 'Tools/polystore/Tests/Browser/run.py --atlas "$RING_RESULTS/atlas.db"', needs=("examples/atlas", "build/tool")),
        Step("interop/conversions", 'Tests/Interop/check_conversions.py "$RING_RESULTS"', needs=("examples/atlas", "build/tool")),
        Step("bench-smoke", "Benchmarks/run.py --smoke --no-grdb && Benchmarks/cliffs.py --smoke", needs=("build/release",)),
        Step("instructions", "Benchmarks/instructions.py", needs=("build/release",), cores=CORES, missing=lacks("valgrind")),
    ]


@dataclasses.dataclass
class Item:
    """A part of the thorough ring. `command` and `env` contain {size}, {seed} and {first}, the number of the first random program; `share` is the size of it in `.ci/run`, where it is drawn, or None where it has none."""

    name: str
    command: str
    full: int
    share: int | None
    covers: list
    cores: int = 1
    alone: str = ""
    needs: tuple = ("build",)
    env: dict = dataclasses.field(default_factory=dict)
    missing: object = None
    # Whether it calls SwiftPM in the folder of builds.
    swiftpm: bool = False

    def step(self, size, seed, needs):
        # The share is a slice of the random programs of the thorough ring.
        fill = {"size": size, "seed": seed, "first": seed % max(1, self.full // size) * size}
        env = {name: value.format(**fill) for name, value in self.env.items()}
        after = ("tests/full-size", "custom-backend") if self.swiftpm else ()
        return Step(
            self.name, self.command.format(**fill), (() if self.swiftpm else needs) + self.needs, self.cores, self.alone, env, self.missing, after)


def items():
    """Returns the parts of the thorough ring, each with its size there and in `.ci/run`."""
    found = []
    for engine in ENGINES:
        sources = ENGINE_SOURCES[engine] + CONTRACT
        for callers in ("one", "many"):
            found.append(Item(
                f"kill/{engine}/{callers}", f"SEED={{seed}} Tests/Kill/run.sh {engine} {{size}} {callers}", 100, 8,
                sources + SEARCH + ["Sources/PolyStoreKernel/Transaction", "Tests/Kill"]))
        found.append(Item(
            f"kill/{engine}/import", f"SEED={{seed}} Tests/Kill/import.sh {engine} {{size}}", 100, 8,
            sources + SEARCH + ["Sources/PolyStoreTransfer/Import", "Tests/Kill"]))
        found.append(Item(
            f"kill/{engine}/migration", f"SEED={{seed}} Tests/Kill/migrate.sh {engine} {{size}}", 100, 8,
            sources + ["Sources/PolyStoreMigration", "Tests/Kill"]))
        found.append(Item(
            f"faults/{engine}", f"Tests/Faults/run.sh {engine} all {{size}} {{seed}}", 60, 4, sources + SEARCH + ["Tests/Faults"]))
        found.append(Item(
            f"faults/{engine}/migration", f"Tests/Faults/migrate.sh {engine} {{size}}", 100, 8,
            sources + ["Sources/PolyStoreMigration", "Tests/Faults"]))
    for engine in ENGINES + ["memory"]:
        sources = ENGINE_SOURCES.get(engine, ["Backends/Memory", "Sources/PolyStoreKeyValue"]) + CONTRACT + CORE + ["Tests/Stress"]
        found.append(Item(f"stress/{engine}", f"SEED={{seed}} Tests/Stress/run.sh {{size}} {engine}", 60, 4, sources))
        found.append(Item(
            f"races/{engine}", f"SEED={{seed}} SANITIZE=thread Tests/Stress/run.sh {{size}} {engine}", 20, 4, sources, needs=("build", "build/races")))
        found.append(Item(
            f"addresses/{engine}", f"SEED={{seed}} SANITIZE=address Tests/Stress/run.sh {{size}} {engine}", 20, None, sources,
            needs=("build", "build/addresses")))
    found.append(Item(
        "build/release-conformance", "scripts/build-release.sh PolyStoreConformance", 1, None, ["Conformance"], needs=("build/release",)))
    found.append(Item("fuzz/formats", "Tests/Fuzz/run.sh {size} {seed}", 600, 15, ["Sources/PolyStoreFormats", "Sources/PolyStoreGzip", "Tests/Fuzz"]))
    found.append(Item(
        "oracle", "scripts/run-tests.py --filter OracleConformance", 5000, 1000, CONTRACT + ["Sources/PolyStoreQuery", "Sources/PolyStoreKeyValue", "Backends"],
        cores=CORES, swiftpm=True, env={"POLYSTORE_ORACLE_CASES": "{size}", "POLYSTORE_SEARCH_ORACLE_CASES": "1", "POLYSTORE_ORACLE_FIRST": "{seed}"}))
    found.append(Item(
        "oracle/searches", "scripts/run-tests.py --filter OracleConformance/searchesEqualTheModel", 5000, 500,
        CONTRACT + ["Sources/PolyStoreQuery", "Sources/PolyStoreSearch", "Sources/PolyStoreSearchIndex", "Sources/PolyStoreKeyValue", "Backends"],
        cores=CORES, swiftpm=True, env={"POLYSTORE_SEARCH_ORACLE_CASES": "{size}", "POLYSTORE_ORACLE_FIRST": "{seed}"}))
    for name, suite, count, first, sources in RANDOM_PROGRAMS:
        found.append(Item(
            f"random/{name}", f"scripts/run-tests.py --filter '{suite}/'", 5000, 500, sources, cores=CORES, swiftpm=True,
            env={count: "{size}", first: "{first}"}))
    found.append(Item("damage-and-kills", "scripts/run-tests.py --filter HarnessTests", 40, None, CONTRACT, cores=CORES, swiftpm=True,
                      env={"POLYSTORE_KILLS": "{size}", "POLYSTORE_DAMAGES": "400"}))
    found.append(Item(
        "cliffs", "Benchmarks/cliffs.py --size {size}", 25000, None, [], cores=CORES, alone="it measures times", needs=("build/release",)))
    found.append(Item("search/beside-fts5", "Benchmarks/search/check.py {size}", 1_000_000, None, [], missing=lacks("gcc")))
    found.append(Item(
        "postgresql/disturbance", "scripts/run-tests.py --filter 'DisturbanceTests/'", 600, None, [], swiftpm=True,
        env={"POLYSTORE_DISTURBANCE_SECONDS": "{size}", "POLYSTORE_SEED": "{seed}"}))
    found.append(Item(
        "postgresql/migration", "scripts/run-tests.py --filter 'LargeMigrationTests/'", 1000000, None, [], swiftpm=True,
        env={"POLYSTORE_MIGRATED_ROWS": "{size}"}))
    found.append(Item("postgresql/namespaces", "Tests/Namespaces/run.sh {size}", 1000, None, []))
    found.append(Item("postgresql/18", "scripts/postgresql-18.sh", 1, None, [], cores=CORES, swiftpm=True))
    found.append(Item(
        "postgresql/oracle", "swift run --skip-build --disable-build-manifest-caching postgresql-report oracle 1 {size}", 5000, None, [], cores=CORES,
        swiftpm=True))
    found.append(Item(
        "postgresql/searches", "swift run --skip-build --disable-build-manifest-caching postgresql-report searches 1 {size}", 5000, None, [], cores=CORES,
        swiftpm=True))
    for module in sorted(os.listdir("Tests")) + ["ConformanceTests"]:
        name = "ReferenceTests" if module == "References" else module
        if not name.endswith("Tests"):
            continue
        found.append(Item(
            f"tests/{name}", f"scripts/run-tests.py --filter '^{name}\\.'", 1, None, [], cores=CORES, swiftpm=True, env={"POLYSTORE_RING": "thorough"}))
    return found


def needed_builds(chosen):
    """Returns the builds that items need beyond those of every ring."""
    sanitizers = {"build/races": ("thread", ".build-tsan"), "build/addresses": ("address", ".build-asan")}
    return [
        Step(name, f"swift build --sanitize={sanitizer} --scratch-path {folder} --product stress-child", needs=("build",))
        for name, (sanitizer, folder) in sanitizers.items() if any(name in item.needs for item in chosen)]


def draw(chosen, commit, part):
    """Returns the items that a commit draws: `part` of them, by a hash of its id and of the item's name."""
    return [item for item in chosen if int(hashlib.sha256(f"{commit}/{item.name}".encode()).hexdigest()[:8], 16) < part * 2**32]


def sample(files, seed):
    """Returns a step that runs twelve suites in the size of the thorough ring: at most six of changed files of tests, and others that the seed draws."""
    with open("Tests/names.txt") as listing:
        suites = sorted({match[1] for line in listing if (match := re.match(r"(\w+Tests\.\w+)/", line)) and not line.startswith("ConformanceTests")})
    # Random programs and the long suites have steps of their own.
    apart = {suite for _, suite, _, _, _ in RANDOM_PROGRAMS} | {"DisturbanceTests", "LargeMigrationTests", "HarnessTests", "KingJamesTests"}
    suites = [suite for suite in suites if suite.split(".")[1] not in apart]
    chance = random.Random(seed)
    chance.shuffle(suites)
    changed = [suite for suite in suites if any(file.startswith(f"Tests/{suite.split('.')[0]}/{suite.split('.')[1]}") for file in files)]
    chosen = changed[:6] + [suite for suite in suites if suite not in changed][: 12 - len(changed[:6])]
    filters = " ".join(f"--filter '^{suite}/'" for suite in sorted(chosen))
    return [Step(
        "tests/full-size", f"scripts/run-tests.py {filters}", needs=("build",), after=("custom-backend",), cores=CORES,
        env={"POLYSTORE_RING": "thorough"})]
