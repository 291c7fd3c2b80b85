#!/usr/bin/env python3
"""W1 to W13 on PostgreSQL: PolyStore beside P8, which is C on libpq, on the same server in one run, and beside PolyStore on SQLite.

    postgresql.py                 100,000 rows, 3 turns
    postgresql.py --guard         the same; exits with 1 if a bar of docs/decisions/050-bars-of-postgresql.md does not hold
    postgresql.py --smoke         every workload once with 1,000 rows; times are not significant, checksums are
    postgresql.py --report FILE   the table of an earlier run again

Starts a server in a temporary folder and ends it. Each workload is a process of its own, so that the CPU time of the server can be attributed to it. That time
includes the opening of the store. Prints the client's CPU time, the elapsed time, their ratios, and the CPU time of the server. "Share" is the client's CPU time
divided by that of PolyStore on SQLite and 1.5 times that of P8 together: the objects, and libpq. Exits with 1 if a program fails or two checksums differ.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from driver import bars, programs, runs
from driver.server import Server

WORKLOADS = ["W1", "W2", "W3", "W4", "W5", "W6", "W10", "W12", "W13", "W7", "W9", "W11", "W8", "W8b", "end"]
PROGRAMS = ["P8", "PolyStore-sqlite", "PolyStore-postgresql"]
BAR = 1.5
# The bars of the ratios of elapsed times that are not BAR, and of the shares that are not 1.
ELAPSED = {"W4": 1.7, "W9": 1.8, "W10": 3, "W12": 3, "W8": 3, "W8b": 4}
SHARES = {"W12": 1.5, "W8b": 1.5}


def turn(runner, server, rows, number, kind, verify, workloads):
    for schema in ("peer", "polystore"):
        server.psql("DROP SCHEMA IF EXISTS %s CASCADE" % schema)
    folder = tempfile.mkdtemp(prefix="bench-", dir=runner.folder)
    try:
        for workload in WORKLOADS if verify else WORKLOADS[:-1]:
            if workload != "W1" and workload not in workloads:
                continue
            for program in PROGRAMS if number % 2 else reversed(PROGRAMS):
                first, before = len(runner.lines), server.cpu()
                runner.run(program, workload, folder, rows, number, kind, verify)
                used = server.cpu() - before
                for line in runner.lines[first:]:
                    line["server"] = used
                    runner.file.write(json.dumps(line) + "\n")
            if workload == "W1":
                server.psql("VACUUM ANALYZE")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    programs.say("turn %d, %d rows" % (number, rows))


def measured(lines):
    """Returns for each workload the lines of its turns, each as a dictionary by program."""
    found = {}
    for line in lines:
        if line.get("kind") == "turn" and "server" in line and "workload" in line:
            found.setdefault(line["workload"], {}).setdefault(line["turn"], {})[line["peer"]] = line
    return {name: [turn for turn in turns.values() if PROGRAMS[0] in turn and PROGRAMS[-1] in turn] for name, turns in found.items()}


def ratio(turns, key):
    return statistics.median(turn[PROGRAMS[-1]][key] / max(turn[PROGRAMS[0]][key], 1e-6) for turn in turns)


def share(turns):
    """Returns the client's CPU time over that of the objects and of libpq; nothing for lines without SQLite."""
    found = [turn[PROGRAMS[-1]]["cpu"] / (turn[PROGRAMS[1]]["cpu"] + BAR * turn[PROGRAMS[0]]["cpu"]) for turn in turns if PROGRAMS[1] in turn]
    return statistics.median(found) if found else None


def table(lines):
    text = ["| | client CPU, ms | P8 | ratio | SQLite | share | elapsed, ms | P8 | ratio | server CPU, ms | P8 |", "|---|---|---|---|---|---|---|---|---|---|---|"]

    def marked(value, bar):
        return "" if value is None else ("%.2f" if value <= bar else "**%.2f**") % value

    def milliseconds(turns, program, key):
        values = [turn[program][key] for turn in turns if program in turn]
        return "%.1f" % (1000 * statistics.median(values)) if values else ""

    found = measured(lines)
    for workload in WORKLOADS[:-1]:
        turns = found.get(workload)
        if not turns:
            continue
        mine, peer, sqlite = PROGRAMS[-1], PROGRAMS[0], PROGRAMS[1]
        cells = [workload + ": " + bars.TITLES.get(workload, "")]
        cells += [milliseconds(turns, mine, "cpu"), milliseconds(turns, peer, "cpu"), marked(ratio(turns, "cpu"), BAR)]
        cells += [milliseconds(turns, sqlite, "cpu"), marked(share(turns), SHARES.get(workload, 1))]
        cells += [milliseconds(turns, mine, "seconds"), milliseconds(turns, peer, "seconds"), marked(ratio(turns, "seconds"), BAR)]
        cells += [milliseconds(turns, mine, "server"), milliseconds(turns, peer, "server")]
        text.append("| " + " | ".join(cells) + " |")
    return "\n".join(text)


def missed(lines):
    """Returns the bars that do not hold, in words."""
    found = []
    for workload, turns in measured(lines).items():
        elapsed, bar = ratio(turns, "seconds"), ELAPSED.get(workload, BAR)
        if elapsed > bar:
            found.append("%s takes %.2f of the elapsed time of P8, and the bar is %.2f" % (workload, elapsed, bar))
        part, bar = share(turns), SHARES.get(workload, 1)
        if part is not None and part > bar:
            found.append("%s takes %.2f of the client's CPU time of SQLite and libpq, and the bar is %.2f" % (workload, part, bar))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--guard", action="store_true", help="exit with 1 if a bar does not hold")
    parser.add_argument("--report", metavar="FILE")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--workloads", nargs="+", default=WORKLOADS, metavar="WORKLOAD")
    parser.add_argument("--no-build", action="store_true", help="use the program bench that POLYSTORE_RELEASE names the folder of")
    options = parser.parse_args()
    if options.report:
        with open(options.report) as file:
            return print(table([json.loads(line) for line in file]))
    programs.build(PROGRAMS[:1] if options.no_build else PROGRAMS)
    server = Server()
    os.environ.update(server.environment())
    try:
        runner = runs.Runner(os.path.join(programs.HERE, "results", "postgresql.jsonl"), os.path.join(programs.HERE, "results", "stores"))
        turn(runner, server, 1000 if options.smoke else 10_000, 0, "check", True, options.workloads)
        for number in range(1, 0 if options.smoke else options.turns + 1):
            turn(runner, server, options.rows, number, "turn", False, options.workloads)
    finally:
        server.stop()
    mismatches = runner.mismatches()
    for text in mismatches:
        programs.say("ERROR different work:", text)
    checks = sum("check" in line for line in runner.lines)
    programs.say("%d results, %d checksums, %d differ, %d failures" % (len(runner.lines), checks, len(mismatches), len(runner.failures)))
    if not options.smoke:
        print(table(runner.lines))
    failed = missed(runner.lines) if options.guard else []
    for text in failed:
        programs.say("ERROR", text)
    sys.exit(1 if mismatches or runner.failures or failed else 0)


if __name__ == "__main__":
    main()
