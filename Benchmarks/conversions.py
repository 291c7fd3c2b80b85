#!/usr/bin/env python3
"""W22: the cost of a conversion, compared with reading the source and writing the target on the raw engines.

    conversions.py                       1,000,000 contacts from SQLite to LMDB, and back
    conversions.py --size 100000         fewer
    conversions.py --turns 3             medians

*Read* is a program in C that reads every row or pair of the source, *write* one that writes those of the target in the order of the keys, less what it reads. The conversion
also reads the target again to verify it. Prints a Markdown table of CPU seconds; the peak is of the whole process.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from driver import programs


def bench(engine, workload, folder, size):
    result = subprocess.run(
        programs.command("PolyStore-" + engine, workload, folder), env=dict(os.environ, PB_N=str(size)), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    if result.returncode:
        sys.exit("%s %s: exit %d\n%s" % (engine, workload, result.returncode, result.stderr[-2000:]))
    lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    return lines[-1] if lines else {}


def compile():
    program = os.path.join(programs.BUILT, "convert")
    os.makedirs(programs.BUILT, exist_ok=True)
    source = os.path.join(programs.HERE, "Peers", "C", "convert.c")
    subprocess.run([programs.compiler(), "-O2", "-o", program, source, "-llmdb", "-lsqlite3"], check=True)
    return program


def raw(program, work, engine, folder):
    arguments = [program, "%s-%s" % (work, engine), os.path.join(folder, "converted." + engine)]
    copy = os.path.join(folder, "raw." + engine)
    if work == "copy":
        arguments.append(copy)
    found = subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True)
    for name in os.listdir(folder):
        if name.startswith("raw."):
            os.remove(os.path.join(folder, name))
    return float(found.stdout.split(",")[1].split()[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=1)
    options = parser.parse_args()
    program = compile()
    print("| conversion | rows | CPU | wall | read | write | ratio | peak, MiB |\n|---|---|---|---|---|---|---|---|", flush=True)
    folder = tempfile.mkdtemp(prefix="conversions-")
    try:
        bench("sqlite", "W22make", folder, options.size)
        for source, target in (("sqlite", "lmdb"), ("lmdb", "sqlite")):
            turns = []
            for _ in range(options.turns):
                found = bench(source, "W22to-" + target, folder, options.size)
                read = raw(program, "read", source, folder)
                write = raw(program, "copy", target, folder) - raw(program, "read", target, folder)
                turns.append((found["cpu"], found["seconds"], read, write, found["cpu"] / (read + write), found["peak_kb"] / 1024))
            middle = [statistics.median(column) for column in zip(*turns)]
            print("| %s to %s | %d | %.2f | %.2f | %.2f | %.2f | %.2f | %.1f |" % (source, target, options.size, *middle), flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()
