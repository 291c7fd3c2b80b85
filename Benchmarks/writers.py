#!/usr/bin/env python3
"""Durable commits of one person each by several processes and callers: PolyStore beside one transaction per commit on raw libpq (P8).

    writers.py            processes with one caller each at 0, 1 and 10 ms a round trip; 1, 8 and 64 callers in one and four processes
    writers.py --short    fewer commits

Starts a server that syncs its log. The latency is that of a proxy on Unix sockets, so that no other program needs it. Each process has rows of its own. Prints commits
per second: all commits divided by the time of the process that took longest.
"""

import argparse
import json
import os
import subprocess
import sys

from driver import programs
from driver.server import Server

PROGRAMS = ["PolyStore-postgresql", "P8"]


def build_delay():
    source, binary = os.path.join(programs.HERE, "Peers", "C", "delay.c"), os.path.join(programs.BUILT, "delay")
    os.makedirs(programs.BUILT, exist_ok=True)
    if not os.path.exists(binary) or os.path.getmtime(binary) < os.path.getmtime(source):
        subprocess.run([programs.compiler(), "-O2", "-Wall", "-o", binary, source], check=True)
    return binary


class Run:
    """The server, the proxies, and the numbers of the rows that are in use."""

    def __init__(self):
        self.server = Server()
        self.delays, self.next = [], 0

    def environment(self, latency):
        """Returns the variables that name the server at a distance, in milliseconds a round trip."""
        if not latency:
            return self.server.environment()
        folder = "%s/delay%d" % (self.server.folder, latency)
        if not os.path.exists(folder):
            os.makedirs(folder)
            name = "/.s.PGSQL.5432"
            command = [build_delay(), folder + name, self.server.folder + name, str(latency * 500)]
            self.delays.append(subprocess.Popen(command))
            while not os.path.exists(folder + name):
                pass
        return {
            "BENCH_POSTGRESQL": "postgresql://polystore@%s/postgres" % folder.replace("/", "%2F"),
            "PB_POSTGRESQL": "host=%s user=polystore dbname=postgres" % folder}

    def commits(self, program, processes, callers, latency, commits):
        """Returns the commits per second of processes with callers, and the CPU time of a client per commit in microseconds."""
        running = []
        # The ids and emails of each process are its own in every run.
        for number in range(processes):
            environment = dict(
                os.environ, PB_N="1000", PB_CALLERS=str(callers), PB_COMMITS=str(commits), PB_PROCESS=str(self.next + number), **self.environment(latency))
            running.append(subprocess.Popen(
                programs.command(program, "W8c", self.server.folder), env=environment, stdout=subprocess.PIPE, text=True))
        self.next += processes
        lines = [json.loads(process.communicate()[0]) for process in running]
        if any(process.returncode for process in running):
            sys.exit("%s failed with %d processes, %d callers" % (program, processes, callers))
        return processes * commits / max(line["seconds"] for line in lines), 1e6 * sum(line["cpu"] for line in lines) / (processes * commits)

    def stop(self):
        for process in self.delays:
            process.terminate()
        self.server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true")
    options = parser.parse_args()
    build_delay()
    share = 4 if options.short else 1
    run = Run()
    try:
        for program in PROGRAMS:
            subprocess.run(
                programs.command(program, "W1", run.server.folder), env=dict(os.environ, PB_N="1000", **run.environment(0)), check=True,
                stdout=subprocess.DEVNULL)
        # The number of commits is the same in every run, because the ids of a process follow from it.
        print("| commits/s, own rows | 1 process | 2 | 4 | 8 |\n|---|---|---|---|---|")
        for latency in (0, 1, 10):
            for program in PROGRAMS:
                rates = [run.commits(program, processes, 1, latency, 192 // share)[0] for processes in (1, 2, 4, 8)]
                print("| %s, %d ms | %s |" % (program, latency, " | ".join("%.0f" % rate for rate in rates)), flush=True)
        print("\n| commits/s, durable | 1 caller | 8 | 64 | 4 processes with 1 caller | with 8 | with 64 |\n|---|---|---|---|---|---|---|")
        run.next = 1000
        for program in PROGRAMS:
            rates = [run.commits(program, processes, callers, 0, 3072 // share)[0] for processes in (1, 4) for callers in (1, 8, 64)]
            print("| %s | %s |" % (program, " | ".join("%.0f" % rate for rate in rates)), flush=True)
    finally:
        run.stop()


if __name__ == "__main__":
    main()
