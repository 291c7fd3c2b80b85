#!/usr/bin/env python3
"""Measures the cost of many small changes at n and at 4 n, and checks that the cost of each row of W20 is proportional to n.

    cliffs.py                    a table of CPU time; fails if an exponent is above 1.15 and above that of plain collections
    cliffs.py --smoke            few rows and a limit between linear and quadratic, for busy machines: 30 seconds
    cliffs.py --instructions     counts instructions under valgrind, which do not depend on the load; a few minutes
    cliffs.py --report FILE      the table of an earlier run again

The exponent is log4(cost at 4 n / cost at n): 1 is linear, 2 is quadratic. The table also shows the exponents of the same work with plain Swift classes, sets, arrays
and dictionaries, which also grows faster than n once it exceeds a cache: a row fails if its exponent is above the limit and above that of plain collections by more
than 0.1.
"""

import argparse
import concurrent.futures
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

from driver import programs

# The shortest measurable time, in seconds: below it the cost is that of the start.
FLOOR = 1e-3


# The tolerance above the exponent of plain collections: the noise of two runs.
MARGIN = 0.1

# Rows whose work is more than linear without PolyStore too, by the prefix of their names, and the reason. Their limit is 2.1.
INHERENT = {"prepend": "an array moves all elements"}


def lines(text):
    for line in text.splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if found.get("workload", "").startswith("W20 "):
            yield found["workload"][4:], found["n"], found["cpu"]


def run(options, environment, command=()):
    folder = tempfile.mkdtemp(prefix="cliffs-")
    try:
        return subprocess.run(
            list(command) + [os.path.join(programs.RELEASE, "bench"), options.engine, "W20", folder, environment.pop("N")],
            env=dict(os.environ, **environment), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def by_time(options):
    """Row: [(n, seconds)]."""
    environment = {"N": str(options.size), "W20_TURNS": str(options.turns), "W20_PLAIN": "1"}
    if options.rows:
        environment["W20_ROWS"] = ",".join(options.rows)
    result = run(options, environment)
    if result.returncode:
        sys.exit("W20: exit %d\n%s" % (result.returncode, result.stderr[-2000:]))
    if options.out:
        with open(options.out, "w") as file:
            file.write(result.stdout)
    return table(result.stdout)


def table(text):
    found = {}
    for name, n, cost in lines(text):
        found.setdefault(name, []).append((n, cost))
    return found


def count(options, row, n, part):
    environment = {"N": str(n), "W20_ROWS": row, "W20_SIZES": "1", "W20_PART": part, "SWIFT_DETERMINISTIC_HASHING": "1",
                   "SWIFT_BACKTRACE": "enable=no"}
    result = run(options, environment, ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
    found = re.search(r"I\s+refs:\s+([\d,]+)", result.stderr)
    if result.returncode or not found:
        sys.exit("%s under valgrind: exit %d\n%s" % (row, result.returncode, result.stderr[-2000:]))
    return int(found.group(1).replace(",", ""))


def by_instructions(options):
    if not shutil.which("valgrind"):
        sys.exit("valgrind is missing; install it with your package manager: apt-get install valgrind")
    rows = options.rows or list(table(run(options, {"N": "1", "W20_SIZES": "1"}).stdout))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        jobs = {(row, n, part): pool.submit(count, options, row, n, part)
                for row in rows for n in (options.size, 4 * options.size) for part in ("all", "setup")}
        counts = {key: job.result() for key, job in jobs.items()}
    # In units of 10^9: the table multiplies by a thousand, as it does with seconds.
    return {row: [(n, (counts[row, n, "all"] - counts[row, n, "setup"]) / 1e9) for n in (options.size, 4 * options.size)] for row in rows}


def growth(few, many):
    """Returns the exponent of a cost from n to 4 n."""
    return math.log(max(many, 1e-9) / max(few, 1e-9), 4)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="memory", choices=["memory", "sqlite", "lmdb", "leveldb"])
    parser.add_argument("--size", type=int, help="n")
    parser.add_argument("--turns", type=int, default=3, help="the least of so many counts")
    parser.add_argument("--limit", type=float, help="the greatest exponent")
    parser.add_argument("--rows", nargs="+", metavar="ROW")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--out", metavar="FILE", help="write the lines there")
    parser.add_argument("--report", metavar="FILE")
    options = parser.parse_args()
    if options.smoke:
        options.turns = min(options.turns, 2)
    options.limit = options.limit or (1.6 if options.smoke else 1.15)
    options.size = options.size or (500 if options.instructions else 1000 if options.smoke else 5000)
    if options.report:
        with open(options.report) as file:
            found = table(file.read())
    else:
        programs.build(["PolyStore-memory"])
        found = by_instructions(options) if options.instructions else by_time(options)
    unit = "million instructions" if options.instructions else "ms"
    print("| row | n | %s | 4 n | %s | exponent | plain | plain, 4 n | exponent |\n|---|---|---|---|---|---|---|---|---|" % (unit, unit))
    steep = []
    for row, costs in found.items():
        if len(costs) < 2 or row.startswith("plain "):
            continue
        (n, few), (m, many) = costs[:2]
        exponent = growth(few, many)
        is_told = options.instructions or many >= 4 * FLOOR
        plain = [cost for _, cost in found.get("plain " + row.replace("-unsafe", "").replace("-child", ""), [])]
        is_like_plain = len(plain) == 2 and plain[1] >= 4 * FLOOR and exponent <= growth(*plain) + MARGIN
        reason = next((why for name, why in INHERENT.items() if row.split("-")[0] == name), None)
        if is_told and exponent > (2.1 if reason else options.limit) and not is_like_plain:
            steep.append(row)
        note = " (%s)" % reason if reason else "" if is_told else " (too quick to measure)"
        beside = "%.1f | %.1f | %.2f" % (plain[0] * 1e3, plain[1] * 1e3, growth(*plain)) if len(plain) == 2 else "– | – | –"
        print("| %s | %d | %.1f | %d | %.1f | %.2f%s | %s |" % (row, n, few * 1e3, m, many * 1e3, exponent, note, beside))
    if steep and not options.report:
        sys.exit("The cost grows with an exponent above %.2f and that of plain collections: %s." % (options.limit, ", ".join(steep)))


if __name__ == "__main__":
    main()
