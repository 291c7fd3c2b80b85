"""The programs: their names, their builds, their calls."""

import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILT = os.path.join(HERE, "Peers", "build")
# The folder of builds of PolyStore, so that its modules are built once.
SCRATCH = os.path.join(os.path.dirname(HERE), ".build")
RELEASE = os.environ.get("POLYSTORE_RELEASE") or os.path.join(SCRATCH, "release")
GRDB = os.path.join(HERE, "Peers", "GRDB")
C_SOURCES = {"P1": ("sqlite", "-lsqlite3"), "P2": ("lmdb", "-llmdb"), "P3": ("leveldb", "-lleveldb"), "P8": ("postgresql", "-lpq")}
# Adjacent, so that compared programs run within seconds of each other.
ALL = ["P1", "PolyStore-sqlite", "P4", "P4b", "P2", "PolyStore-lmdb", "P3", "PolyStore-leveldb", "P7", "PolyStore-memory"]


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def command(program, workloads, folder):
    if program.startswith("PolyStore-"):
        return [os.path.join(RELEASE, "bench"), program.split("-", 1)[1], workloads, folder]
    if program in C_SOURCES:
        return [os.path.join(BUILT, C_SOURCES[program][0]), workloads, folder]
    if program == "P7":
        return [os.path.join(RELEASE, "peer-memory"), workloads]
    return [os.path.join(GRDB, ".build", "release", "peer-grdb"), program, workloads, folder]


def is_in_memory(program):
    return program in ("P7", "PolyStore-memory")


def missing_packages(programs):
    """Returns the missing Debian packages whose headers the C programs need."""
    needed = {"P1": ("sqlite3.h", "libsqlite3-dev"), "P2": ("lmdb.h", "liblmdb-dev"), "P3": ("leveldb/c.h", "libleveldb-dev"), "P8": ("postgresql/libpq-fe.h", "libpq-dev")}
    missing = []
    for header, package in (needed[p] for p in programs if p in needed):
        probe = subprocess.run(
            [compiler(), "-E", "-x", "c", "-"], input="#include <%s>\n" % header, text=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        if probe.returncode:
            missing.append(package)
    return missing


def compiler():
    for name in (os.environ.get("CC"), "gcc", "clang", "cc"):
        if name and shutil.which(name):
            return name
    sys.exit("There is no C compiler; install gcc or clang.")


def build(programs):
    """Builds the selected programs. Returns the programs that can run, without GRDB's if it cannot be downloaded."""
    missing = missing_packages(programs)
    if missing:
        sys.exit("Please install what the programs in C need: apt-get install " + " ".join(missing))
    os.makedirs(BUILT, exist_ok=True)
    folder = os.path.join(HERE, "Peers", "C")
    headers = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".h")]
    for program in programs:
        if program not in C_SOURCES:
            continue
        name, library = C_SOURCES[program]
        source, binary = os.path.join(folder, name + ".c"), os.path.join(BUILT, name)
        newest = max(os.path.getmtime(path) for path in headers + [source])
        if not os.path.exists(binary) or os.path.getmtime(binary) < newest:
            say("building", name)
            subprocess.run([compiler(), "-O2", "-g", "-Wall", "-Wno-unused-function", "-o", binary, source, library, "-lm"], check=True)
    products = [("bench", any(p.startswith("PolyStore-") for p in programs)), ("peer-memory", "P7" in programs)]
    for product in (name for name, is_wanted in products if is_wanted):
        # With POLYSTORE_BUILT set, scripts/build-release.sh has built them.
        if os.environ.get("POLYSTORE_BUILT") and os.path.exists(os.path.join(RELEASE, product)):
            continue
        say("building", product)
        swift(["--package-path", HERE, "--scratch-path", SCRATCH, "--disable-build-manifest-caching", "--product", product])
    if {"P4", "P4b"} & set(programs):
        say("building peer-grdb")
        try:
            swift(["--package-path", GRDB])
        except subprocess.CalledProcessError:
            say("GRDB could not be fetched or built: P4 and P4b are left out.")
            programs = [p for p in programs if p not in ("P4", "P4b")]
    return programs


def swift(arguments):
    result = subprocess.run(["swift", "build", "-c", "release"] + arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        say(result.stdout[-4000:])
        result.check_returncode()


def bench(engine, workload, folder, size):
    """Runs a workload of PolyStore, and returns its last line of output."""
    result = subprocess.run(
        command("PolyStore-" + engine, workload, folder), env=dict(os.environ, PB_N=str(size)), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    if result.returncode:
        sys.exit("%s %s: exit %d\n%s" % (engine, workload, result.returncode, result.stderr[-2000:]))
    lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    return lines[-1] if lines else {}


def compiled(name, *libraries):
    """Compiles a program of Peers/C that no other one shares, and returns its path."""
    program = os.path.join(BUILT, name)
    os.makedirs(BUILT, exist_ok=True)
    source = os.path.join(HERE, "Peers", "C", name + ".c")
    subprocess.run([compiler(), "-O2", "-o", program, source, *libraries], check=True)
    return program
