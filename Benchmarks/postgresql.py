#!/usr/bin/env python3
"""W1 to W13 on PostgreSQL: PolyStore beside P8, which is C on libpq, on the same server in one run.

    postgresql.py                 100,000 rows, 3 turns
    postgresql.py --smoke         every workload once with 1,000 rows; times are not significant, checksums are
    postgresql.py --report FILE   the table of an earlier run again

Starts a server in a temporary folder and ends it. Each workload is a process of its own, so that the CPU time of the server can be attributed to it. That time
includes the opening of the store. Prints the client's CPU time, the elapsed time, their ratios, and the CPU time of the server. Exits with 1 if a program fails or
two checksums differ.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

from driver import bars, programs, runs
from driver.server import Server

WORKLOADS = ["W1", "W2", "W3", "W4", "W5", "W6", "W10", "W12", "W13", "W7", "W9", "W11", "W8", "W8b", "end"]
PROGRAMS = ["P8", "PolyStore-postgresql"]
BAR = 1.5


def turn(runner, server, rows, number, kind, verify, workloads):
    for schema in ("peer", "polystore"):
        server.psql("DROP SCHEMA IF EXISTS %s CASCADE" % schema)
    for workload in WORKLOADS if verify else WORKLOADS[:-1]:
        if workload != "W1" and workload not in workloads:
            continue
        for program in PROGRAMS if number % 2 else reversed(PROGRAMS):
            first, before = len(runner.lines), server.cpu()
            runner.run(program, workload, server.folder, rows, number, kind, verify)
            used = server.cpu() - before
            for line in runner.lines[first:]:
                line["server"] = used
                runner.file.write(json.dumps(line) + "\n")
        if workload == "W1":
            server.psql("VACUUM ANALYZE")
    programs.say("turn %d, %d rows" % (number, rows))


def table(lines):
    found = {}
    for line in lines:
        if line.get("kind") == "turn" and "server" in line and "workload" in line:
            found.setdefault(line["workload"], {}).setdefault(line["turn"], {})[line["peer"]] = line
    text = ["| | client CPU, ms | P8 | ratio | elapsed, ms | P8 | ratio | server CPU, ms | P8 |", "|---|---|---|---|---|---|---|---|---|"]

    def median(values):
        return statistics.median(values)

    for workload in WORKLOADS[:-1]:
        both = [(turn[PROGRAMS[1]], turn[PROGRAMS[0]]) for turn in found.get(workload, {}).values() if len(turn) == 2]
        if not both:
            continue
        cells = [workload + ": " + bars.TITLES.get(workload, "")]
        for key in ("cpu", "seconds", "server"):
            cells += ["%.1f" % (1000 * median([pair[side][key] for pair in both])) for side in (0, 1)]
            if key != "server":
                ratio = median([mine[key] / max(peer[key], 1e-6) for mine, peer in both])
                cells.append(("%.2f" if ratio <= BAR else "**%.2f**") % ratio)
        text.append("| " + " | ".join(cells) + " |")
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true")
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
    sys.exit(1 if mismatches or runner.failures else 0)


if __name__ == "__main__":
    main()
