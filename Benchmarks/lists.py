#!/usr/bin/env python3
"""W18: the cost of a commit with an observed list, by the length of the list, and the memory of the list.

    lists.py                             1,000 to 1,000,000 persons on each engine, and GRDB's ValueObservation to 100,000
    lists.py --sizes 1000 10000          other sizes
    lists.py --engines sqlite memory     some engines

The cost is the CPU time of a commit with a monitor minus that with a view alone, in the same process; the minimum of --turns processes. Prints Markdown.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

from driver import programs

KINDS = ["update", "move", "insert", "delete"]


def run(program, size):
    """Returns the CPU microseconds per change by workload, and the line of the memory."""
    folder = tempfile.mkdtemp(prefix="lists-")
    try:
        environment = dict(os.environ, PB_N=str(size))
        first = "W0" if program.startswith("PolyStore-") else "W1"
        found = {}
        for workloads in ([first, "W18"] if not programs.is_in_memory(program) and first == "W1" else ["W18"]):
            result = subprocess.run(
                programs.command(program, workloads, folder), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if result.returncode:
                sys.exit("%s %s: exit %d\n%s" % (program, workloads, result.returncode, result.stderr[-2000:]))
            for text in result.stdout.splitlines():
                line = json.loads(text) if text.startswith("{") else {}
                name = line.get("workload", "")
                if name.startswith("W18 "):
                    found[name[4:]] = line.get("bytes_a_row", line["cpu"] / line["n"] * 1e6)
        return found
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def best(program, size, turns):
    results = [run(program, size) for _ in range(turns)]
    return {name: min(result[name] for result in results) for name in results[0]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--engines", nargs="+", default=["sqlite", "lmdb", "leveldb", "memory"])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--no-grdb", action="store_true")
    options = parser.parse_args()
    names = ["PolyStore-" + engine for engine in options.engines] + ([] if options.no_grdb else ["P4"])
    names = programs.build(names) or names
    print("| program | rows | " + " | ".join("%s, alone" % kind for kind in KINDS) + " | "
          + " | ".join("+ %s" % kind for kind in KINDS) + " | hundred lists, move | bytes a row |")
    print("|---|---|" + "---|" * (2 * len(KINDS) + 2))
    for name in names:
        for size in options.sizes:
            if name == "P4" and size > 100_000:
                continue
            found = best(name, size, options.turns)
            alone = [found.get(kind + " alone") for kind in KINDS]
            more = [found.get(kind + " monitored") for kind in KINDS]
            cells = ["%.1f" % value if value is not None else "–" for value in alone]
            cells += ["%.1f" % (value - base) if value is not None else "–" for value, base in zip(more, alone)]
            cells += ["%.1f" % found["move hundred lists"] if "move hundred lists" in found else "–"]
            cells += ["%d" % found["memory"] if "memory" in found else "–"]
            print("| %s | %s | %s |" % (name, format(size, ","), " | ".join(cells)), flush=True)


main()
