"""Runs the programs alternately and collects their output."""

import json
import os
import shutil
import subprocess
import tempfile
import time

from . import programs as P

# The phases of one program in a turn, one process each. Only PolyStore has those in OWN.
PHASES = ["load", "W2t", "W12", "W13", "mutate", "W8c", "W14", "W15", "W11s", "W11i", "W11r", "W16"]
OWN = {"W2t", "W14", "W15", "W11s", "W11i", "W16", "M1", "M2", "W17"}
# On a separate store, which the process creates before the measurement; GRDB's programs create it with W1.
FRESH = {"W11s", "W11i", "W11r", "W16"}
# Workloads that do the same work under several names, so that their checksums must agree.
SAME = {"W11i": "W11s", "W11r": "W11s", "W16c": "W16j"}
# Only in the first turn of a quick run.
LONG = {"W13", "W14", "W15", "W16"}
# One process each, to measure its peak memory. Readers first, before the store is changed. The others
# have a separate process in a turn already.
ALONE = ["W1", "W2", "W3", "W4", "W5", "W6", "W10", "W7", "W9", "W11", "W8", "W8b", "M1", "M2", "W17"]


def has(program, phase):
    """Returns whether a program has a workload or a group of them."""
    if phase in OWN:
        return program.startswith("PolyStore-")
    if phase == "W11r":
        return program in ("P4", "P4b")
    if phase == "W8c":
        return program.startswith("PolyStore-") or program in ("P4", "P4b")
    if phase in ("W12", "W8"):
        return not P.is_in_memory(program)
    return True


class Runner:
    """Runs processes and keeps their output, in memory and in a file."""

    def __init__(self, out, folder):
        self.lines, self.failures = [], []
        self.folder = folder
        os.makedirs(os.path.dirname(out), exist_ok=True)
        os.makedirs(folder, exist_ok=True)
        self.file = open(out, "w")

    def run(self, program, workloads, folder, rows, turn, kind, verify=False, only=None):
        """Runs a process and keeps its lines, or those of one workload."""
        environment = dict(os.environ, PB_N=str(rows), PB_VERIFY="1" if verify else "0")
        environment.setdefault("ATLAS_DATA", os.path.join(P.HERE, "..", "Examples", "Atlas", "Data"))
        process = subprocess.run(
            P.command(program, workloads, folder), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if process.returncode:
            self.failures.append("%s %s: exit %d: %s" % (program, workloads, process.returncode, process.stderr.strip()[-500:]))
            P.say("ERROR", self.failures[-1])
        for text in process.stdout.splitlines():
            if not text.startswith("{"):
                continue
            line = dict(json.loads(text), turn=turn, kind=kind)
            if only and line.get("workload") != only:
                continue
            self.lines.append(line)
            self.file.write(json.dumps(line) + "\n")
        self.file.flush()

    def turn(self, programs, rows, turn, kind="turn", phases=PHASES, verify=False, opens=3):
        """Runs one turn: each phase in all programs before the next phase, so that compared runs are close together."""
        start = time.monotonic()
        folders = {program: tempfile.mkdtemp(prefix="bench-", dir=self.folder) for program in programs}
        try:
            for phase in phases:
                # Every other turn in reverse order, so that no program is always first.
                for program in programs if turn % 2 else reversed(programs):
                    if not has(program, phase):
                        continue
                    if phase in FRESH:
                        self.fresh(program, phase, rows, turn, kind, verify)
                        continue
                    for _ in range(opens if phase == "W12" else 1):
                        self.run(program, phase, folders[program], rows, turn, kind, verify)
        finally:
            for folder in folders.values():
                shutil.rmtree(folder, ignore_errors=True)
        P.say("turn %d, %d rows: %.0f s" % (turn, rows, time.monotonic() - start))

    def fresh(self, program, phase, rows, turn, kind, verify):
        """Runs a phase on a separate store."""
        folder = tempfile.mkdtemp(prefix="bench-", dir=self.folder)
        try:
            if phase == "W11r":
                self.run(program, "W1,W11r", folder, rows, turn, kind, verify, only="W11r")
            else:
                self.run(program, phase, folder, rows, turn, kind, verify)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def alone(self, programs, rows, workloads=ALONE):
        """Runs every workload in a separate process, for its peak memory."""
        start = time.monotonic()
        for program in programs:
            folder = tempfile.mkdtemp(prefix="bench-", dir=self.folder)
            try:
                for workload in workloads:
                    if workload == "M2":
                        # It creates a separate store.
                        shutil.rmtree(folder)
                        os.makedirs(folder)
                    if has(program, workload):
                        if workload == "M1":
                            self.run(program, "prepare", folder, rows, 1, "alone")
                        self.run(program, workload, folder, rows, 1, "alone")
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        P.say("peaks of memory, %d rows: %.0f s" % (rows, time.monotonic() - start))

    def mismatches(self):
        """Returns the checksums that differ between programs or turns."""
        first, found = {}, []
        for line in self.lines:
            if "check" not in line:
                continue
            workload = line.get("workload") or "end"
            key = (SAME.get(workload, workload), line["rows"])
            program, check = first.setdefault(key, (line["peer"], line["check"]))
            if check != line["check"]:
                found.append("%s at %d rows: %s has %s, %s has %s" % (*key, program, check, line["peer"], line["check"]))
        return sorted(set(found))
