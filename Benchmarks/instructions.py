#!/usr/bin/env python3
"""Counts the instructions of the hottest paths and compares them with instructions.json. Unlike times, they do not depend on the load of the machine.

    instructions.py             fails if a path exceeds the count in the file by more than the tolerance
    instructions.py --update    writes the counts into the file

Each path runs with few and with many rows under valgrind; the cost of a row is the difference, so that start-up cancels. The cost of
generating the data and preparing the store is counted separately and subtracted. Some paths run once more with a model of 300 entities: a commit and a read
must cost what they use, not what the model has.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from driver import programs

FILE = os.path.join(programs.HERE, "instructions.json")
ENGINES = ["memory", "sqlite", "lmdb"]
FEW, MANY = 1000, 6000
# Path: title, the preparation whose cost is subtracted, the operations for a number of rows. W8b has at most 5,000 commits, so it has fewer rows.
PATHS = {
    "W1": ("insert, a row", "W0", lambda n: n),
    "W2": ("fetch, an object", "prepare", lambda n: n),
    "W3": ("get by id, an object", "prepare", lambda n: n),
    "W3r": ("get by id in a read of its own", "prepare", lambda n: n),
    "W4": ("range in the order of an index, a row", "prepare", lambda n: n),
    "W5": ("count by an unindexed condition, a row", "prepare", lambda n: 10 * n),
    "W6": ("group, a row", "prepare", lambda n: 10 * n),
    "W8b": ("commit of one object", "prepare", lambda n: n // 2),
}
SIZES = {"W8b": (200, 1000)}
# The paths that run with a model of many entities, and the greatest cost in proportion to the usual model.
WITH_MANY_ENTITIES, MANY_ENTITIES, MAXIMUM_GROWTH = ["W3r", "W8b"], 300, 1.1
VARIANTS = [(path, 0) for path in PATHS] + [(path, MANY_ENTITIES) for path in WITH_MANY_ENTITIES]


def title(engine, path, entities):
    return "%s %s%s" % (engine, path, ", %d entities" % entities if entities else "")


def count(engine, workload, rows, entities, folder):
    """Returns the instructions of one process."""
    environment = dict(
        os.environ, PB_N=str(rows), PB_ENTITIES=str(entities), PB_VERIFY="0", SWIFT_DETERMINISTIC_HASHING="1", SWIFT_BACKTRACE="enable=no")
    if engine == "lmdb":
        # valgrind cannot reserve the default 64 GiB of address space.
        environment["BENCH_OPTIONS"] = "?mapSize=256m"
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    result = subprocess.run(
        command + programs.command("PolyStore-" + engine, workload, folder), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True)
    found = re.search(r"I\s+refs:\s+([\d,]+)", result.stderr)
    if result.returncode or not found:
        sys.exit("%s %s under valgrind: exit %d\n%s" % (engine, workload, result.returncode, result.stderr[-2000:]))
    return int(found.group(1).replace(",", ""))


def measure_all():
    folder = tempfile.mkdtemp(prefix="instructions-")
    try:
        return measure(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure(folder):
    jobs = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for engine in ENGINES:
            for path, entities in VARIANTS:
                for rows in SIZES.get(path, (FEW, MANY)):
                    for workload in (path, PATHS[path][1]):
                        key = ("any" if workload == "W0" else engine, workload, rows, entities)
                        if key not in jobs:
                            jobs[key] = pool.submit(job, engine, workload, rows, entities, os.path.join(folder, "-".join(map(str, key))))
    counts = {key: future.result() for key, future in jobs.items()}
    found = {}
    for engine in ENGINES:
        for path, entities in VARIANTS:
            (_, base, operations), (few, many) = PATHS[path], SIZES.get(path, (FEW, MANY))
            used = [counts[engine, path, n, entities] - counts["any" if base == "W0" else engine, base, n, entities] for n in (few, many)]
            found[title(engine, path, entities)] = round((used[1] - used[0]) / (operations(many) - operations(few)))
    return found


def job(engine, workload, rows, entities, folder):
    os.makedirs(folder)
    if engine != "memory" and workload not in ("W0", "W1"):
        # Without valgrind: counting begins with an existing store.
        environment = dict(os.environ, PB_N=str(rows), PB_ENTITIES=str(entities))
        subprocess.run(programs.command("PolyStore-" + engine, "prepare", folder), env=environment, check=True)
    return count(engine, workload, rows, entities, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("valgrind is missing; install it with your package manager: apt-get install valgrind")
    programs.build(["PolyStore-" + engine for engine in ENGINES])
    found = measure_all()
    with open(FILE) as file:
        known = json.load(file)
    tolerance, worse = known["tolerance"], []
    print("| path | instructions | before | change |\n|---|---|---|---|")
    for name, value in found.items():
        before = known["instructions"].get(name)
        change = (value / before - 1) if before else None
        if not options.update and (before is None or change > tolerance):
            worse.append(name)
        label = "%s: %s" % (name, PATHS[name.replace(",", "").split()[1]][0])
        print("| %s | %d | %s | %s |" % (label, value, before or "–", "–" if change is None else "%+.1f%%" % (100 * change)))
    grown = []
    for engine in ENGINES:
        for path in WITH_MANY_ENTITIES:
            growth = found[title(engine, path, MANY_ENTITIES)] / found[title(engine, path, 0)]
            print("%s: %.3f times the instructions with %d entities" % (title(engine, path, 0), growth, MANY_ENTITIES))
            if growth > MAXIMUM_GROWTH:
                grown.append(title(engine, path, 0))
    if grown:
        sys.exit("More than %.1f times the instructions with %d entities: %s." % (MAXIMUM_GROWTH, MANY_ENTITIES, ", ".join(grown)))
    if options.update:
        with open(FILE, "w") as file:
            json.dump({"tolerance": tolerance, "instructions": found}, file, indent=4)
            file.write("\n")
    elif worse:
        sys.exit(
            "More than %.0f%% beyond instructions.json: %s. If that is meant, run Benchmarks/instructions.py --update and commit the file."
            % (100 * tolerance, ", ".join(worse)))


if __name__ == "__main__":
    main()
