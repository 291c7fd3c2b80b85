#!/usr/bin/env python3
"""W22: the cost of a conversion, compared with reading the source and writing the target on the raw engines.

    conversions.py                       1,000,000 contacts from SQLite to LMDB, and back
    conversions.py --size 100000         fewer
    conversions.py --turns 3             medians

*Read* is a program in C that reads every row or pair of the source, *write* one that writes those of the target: rows with their indexes in their order on SQLite and on LMDB, less what it
reads. *Sorted* is the same on LMDB with all pairs, those of the indexes too, in the order of their keys. The conversion also reads the target again to verify it. Prints a Markdown table of CPU
seconds; the peak is that of anonymous memory.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile

from driver import programs


def raw(program, work, engine, folder):
    arguments = [program, "%s-%s" % (work, engine), os.path.join(folder, "converted." + engine)]
    copy = os.path.join(folder, "raw." + engine)
    if work != "read":
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
    program = programs.compiled("convert", "-llmdb", "-lsqlite3")
    print("| conversion | rows | CPU | wall | read | write | ratio | sorted | ratio | peak, MiB |\n|---|---|---|---|---|---|---|---|---|---|", flush=True)
    folder = tempfile.mkdtemp(prefix="conversions-")
    try:
        programs.bench("sqlite", "W22make", folder, options.size)
        for source, target in (("sqlite", "lmdb"), ("lmdb", "sqlite")):
            turns = []
            for _ in range(options.turns):
                found = programs.bench(source, "W22to-" + target, folder, options.size)
                read = raw(program, "read", source, folder)
                pairs = raw(program, "copy", target, folder) - raw(program, "read", target, folder)
                write = raw(program, "rows", "sqlite", folder) - read if target == "lmdb" else pairs
                cpu = found["cpu"]
                turns.append((
                    cpu, found["seconds"], read, write, cpu / (read + write), pairs, cpu / (read + pairs),
                    int(found["note"].split()[0]) / 1024))
            middle = [statistics.median(column) for column in zip(*turns)]
            print("| %s to %s | %d | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.1f |" % (source, target, options.size, *middle), flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()
