"""What a change touches: its files, and the tests of their modules."""

import hashlib
import os
import subprocess
import sys


def git(*arguments, default=None):
    """Returns what git prints.

    default     what a failure returns; without it, a failure ends the program, because a ring that does not know the changes would check too little
    """
    # The checkout may belong to another user than the one who runs the ring.
    result = subprocess.run(["git", "-c", "safe.directory=*", *arguments], capture_output=True, text=True)
    if result.returncode == 0:
        return result.stdout.strip()
    if default is None:
        sys.exit(f"git {' '.join(arguments)} failed: {result.stderr.strip()}")
    return default


def head():
    """Returns the id of the current commit, or `none` outside of a repository."""
    return git("rev-parse", "--verify", "--quiet", "HEAD", default="none")


def base():
    """Returns the commit that the current one is compared with, and why it is that one.

    It is POLYSTORE_CI_BASE, else the commit where the branch left the remote's main branch, else the last commit that is a day older than the current one.
    """
    given = os.environ.get("POLYSTORE_CI_BASE")
    if given:
        git("rev-parse", "--verify", "--quiet", given + "^{commit}")
        return given, "POLYSTORE_CI_BASE"
    fork = git("merge-base", "HEAD", "origin/HEAD", default="")
    if fork and fork != head():
        return fork, "where the branch left the remote's main branch"
    made = git("show", "-s", "--format=%ct", "HEAD")
    older = git("rev-list", "-1", f"--before={int(made or 86400) - 86400}", "HEAD")
    return older or git("hash-object", "-t", "tree", "/dev/null"), "the last commit that is a day older"


def since(revision):
    """Returns the files that differ between a revision and the working tree; none outside of a repository."""
    if head() == "none":
        return []
    changed = git("diff", "--name-only", revision).splitlines()
    return sorted(set(changed + git("ls-files", "--others", "--exclude-standard").splitlines()))


def fingerprint():
    """Returns a hash of what differs between the current commit and the working tree; an empty text without differences."""
    files = since("HEAD")
    if not files:
        return ""
    found = hashlib.sha256(git("diff", "HEAD").encode())
    for file in git("ls-files", "--others", "--exclude-standard").splitlines():
        found.update(file.encode())
        if os.path.isfile(file):
            with open(file, "rb") as opened:
                found.update(opened.read())
    return found.hexdigest()[:12]


# The test modules of a folder. The first prefix that matches counts.
CONFORMANCE = "ConformanceTests"
TESTS = [
    ("Sources/PolyStoreConditions", ["PolyStoreCoreTests", "PolyStoreTests"]),
    ("Sources/PolyStoreKernel/Query", ["PolyStoreCoreTests", "PolyStoreTests"]),
    ("Sources/PolyStoreColumns", ["PolyStoreTests"]),
    ("Sources/PolyStorePredicates", ["PolyStoreCoreTests", "PolyStoreTests"]),
    ("Sources/PolyStoreObservation", ["PolyStoreObserveTests", "PolyStoreCoreTests.Failed(List|Snapshot)Tests"]),
    ("Sources/PolyStoreHistory", ["PolyStoreHistoryTests"]),
    ("Sources/PolyStoreTransfer/Import", ["PolyStoreImportTests"]),
    ("Sources/PolyStoreTransfer/Export", ["PolyStoreImportTests"]),
    ("Sources/PolyStoreMigration", ["PolyStoreMigrationTests"]),
    ("Sources/PolyStoreConversion", ["PolyStoreConversionTests"]),
    ("Sources/PolyStoreKernel", ["PolyStoreCoreTests", "PolyStoreObserveTests", "PolyStoreTests", "ReferenceTests"]),
    ("Sources/PolyStoreCore", ["PolyStoreCoreTests"]),
    ("Sources/PolyStoreMacros", ["PolyStoreMacrosTests", "PolyStoreTests"]),
    ("Sources/PolyStoreBackend", ["PolyStoreBackendTests", f"{CONFORMANCE}.(Memory|SQLite)Conformance"]),
    ("Sources/CRecordBytes", ["PolyStoreBackendTests"]),
    ("Sources/PolyStoreQuery", ["PolyStoreQueryTests", f"{CONFORMANCE}.(Memory|SQLite)Conformance"]),
    ("Sources/PolyStoreKeyValue", ["PolyStoreKeyValueTests", f"{CONFORMANCE}.MemoryConformance", f"{CONFORMANCE}.EngineConformance"]),
    ("Sources/PolyStoreFormats", ["PolyStoreFormatsTests", "PolyStoreImportTests"]),
    ("Sources/PolyStoreGzip", ["PolyStoreGzipTests"]),
    ("Sources/PolyStoreSource", ["PolyStoreSourceTests"]),
    ("Sources/PolyStoreTables", ["PolyStoreSourceTests"]),
    ("Sources/PolyStoreAdvice", ["PolyStoreDynamicTests.IndexAdviceTests"]),
    ("Sources/CObjectRetain", ["PolyStoreCoreTests"]),
    ("Sources/PolyStore", ["PolyStoreTests", "ReferenceTests"]),
    ("Backends/SQLite", ["PolyStoreSQLiteTests", f"{CONFORMANCE}.SQLiteConformance"]),
    ("Backends/LMDB", ["PolyStoreLMDBTests", f"{CONFORMANCE}.LMDBConformance"]),
    ("Backends/LevelDB", ["PolyStoreLevelDBTests", f"{CONFORMANCE}.LevelDBConformance"]),
    ("Backends/PostgreSQL", ["PolyStorePostgreSQLTests"]),
    ("Conformance/PostgreSQL", ["PolyStorePostgreSQLTests"]),
    ("Backends/Memory", [f"{CONFORMANCE}.MemoryConformance"]),
    ("Conformance", [CONFORMANCE, "PolyStoreKeyValueTests.RecordLayerConformance"]),
    ("Tests/References", ["ReferenceTests"]),
    ("Tests/Engines", ["PolyStoreLMDBTests", "PolyStoreLevelDBTests", "PolyStoreProcessTests"]),
    ("Tests/History", ["PolyStoreHistoryTests"]),
    ("Tests/Conversion", ["PolyStoreConversionTests"]),
    ("Tests/Fuzz", ["PolyStoreFormatsTests"]),
    ("Tests/Golden", ["PolyStoreSQLiteTests", "PolyStoreLMDBTests", "PolyStoreLevelDBTests"]),
    ("Tests/Support", ["PolyStoreCoreTests"]),
]


def suites(files):
    """Returns the filters of the tests of changed files, and the code for which there are none."""
    filters, without = set(), []
    for file in files:
        if not file.endswith((".swift", ".c", ".h")):
            continue
        part = file.split("/")
        if part[0] == "Tests" and part[1].endswith("Tests"):
            filters.add(part[1])
            continue
        found = next((tests for prefix, tests in TESTS if file.startswith(prefix + "/")), None)
        if found:
            filters.update(found)
        else:
            without.append(file)
    # A whole module contains its suites.
    return sorted(f for f in filters if "." not in f or f.split(".")[0] not in filters), without
