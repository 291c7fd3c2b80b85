#!/usr/bin/env python3
"""Builds missing programs, runs all programs alternately, checks that they did the same work, and prints tables.

    run.py --quick      `make bench`: 100,000 rows, 3 turns
    run.py --full       `make bench-full`: 7 turns, growth from 10,000 to 1,000,000 rows, memory with a million rows
    run.py --smoke      every workload of every program once with 1,000 rows; times are not significant, checksums are
    run.py --report results/quick.jsonl      the tables of an earlier run again

Exits with 1 if a program fails or two programs' checksums differ.
"""

import argparse
import json
import os
import sys

from driver import bars, chart, programs, report, runs


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--report", metavar="FILE")
    parser.add_argument("--turns", type=int)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--programs", nargs="+", choices=programs.ALL, default=programs.ALL, metavar="PROGRAM", help=", ".join(programs.ALL))
    parser.add_argument("--phases", nargs="+", default=runs.PHASES, metavar="PHASE", help=", ".join(runs.PHASES))
    parser.add_argument("--no-grdb", action="store_true", help="leave out P4 and P4b, and their download")
    parser.add_argument("--no-memory", action="store_true", help="leave out the peaks of memory")
    parser.add_argument("--folder", default=os.path.join(programs.HERE, "results", "stores"), help="where the stores are put: on a real disk")
    parser.add_argument("--chart", metavar="FILE", help="write the chart there")
    return parser.parse_args()


def measure(options, mode):
    wanted = [p for p in options.programs if not (options.no_grdb and p in ("P4", "P4b"))]
    available = programs.build(wanted)
    out = os.path.join(programs.HERE, "results", mode + ".jsonl")
    runner = runs.Runner(out, options.folder)
    rows = options.rows or {"smoke": 1000}.get(mode, 100_000)
    turns = options.turns or {"smoke": 1, "full": 7}.get(mode, 3)
    mine = [p for p in available if p.startswith("PolyStore-")]
    compared = mine + [p for p in available if p in bars.RAW.values()]
    for turn in range(1, turns + 1):
        # Every byte is hashed in the first turn. A quick run includes slow workloads, and those without peers, only in that turn.
        is_whole = mode == "full" or turn == 1
        phases = [p for p in options.phases if is_whole or p not in runs.LONG]
        runner.turn(
            [p for p in available if is_whole or p != "P4b"], rows, turn, phases=phases, verify=turn == 1, opens=1 if mode == "smoke" else 3)
    growth = [p for p in options.phases if p not in runs.OWN and p != "W8c"]
    if mode == "quick":
        runner.turn(compared, rows // 10, 1, "growth", growth)
    if mode == "full":
        for turn in range(1, 4):
            runner.turn(compared, 10_000, turn, "growth", growth)
        runner.turn(compared, 1_000_000, 1, "growth", growth)
    if not options.no_memory:
        without = {"full": ("M1", "M2"), "quick": ("W8", "W8b"), "smoke": set(runs.ALONE) - {"M1", "M2", "W17"}}.get(mode, ())
        runner.alone(compared, rows, [w for w in runs.ALONE if w not in without])
        if mode == "full":
            runner.alone(mine, 1_000_000, ["M1", "M2", "W17"])
    P = programs.say
    mismatches = runner.mismatches()
    for text in mismatches:
        P("ERROR different work:", text)
    checks = sum("check" in line for line in runner.lines)
    P("%d results, %d checksums, %d differ, %d failures; %s" % (len(runner.lines), checks, len(mismatches), len(runner.failures), out))
    return runner.lines, not mismatches and not runner.failures


def main():
    options = arguments()
    if options.report:
        with open(options.report) as file:
            lines, is_good = [json.loads(line) for line in file], True
    else:
        lines, is_good = measure(options, "smoke" if options.smoke else "full" if options.full else "quick")
    results = report.Results(lines)
    if not options.smoke:
        print(report.markdown(results))
    if options.chart:
        with open(options.chart, "w") as file:
            file.write(chart.svg(results))
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
