"""The common parts of all kinds of runs: the programs, the processes and the counts."""

import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# The signal identifies a crash; Swift's backtrace would take a second each.
os.environ.setdefault("SWIFT_BACKTRACE", "enable=no")
BAD = ("lost", "wrong", "unopenable", "crashed")


class Setting:
    """The paths of the programs and of temporary files."""

    def __init__(self, child, shim):
        self.child = child
        self.shim = shim
        base = "/dev/shm" if os.path.isdir("/dev/shm") and os.access("/dev/shm", os.W_OK) else None
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="polystore-faults-", dir=base))

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def fresh(self, name):
        path = os.path.join(self.folder, name)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        return path


class Counts:
    """The verdicts of one kind of run."""

    def __init__(self, engine, kind, known):
        self.engine = engine
        self.kind = kind
        self.known = known
        self.total = 0
        self.verdicts = {}
        self.accepted = 0
        self.examples = []

    def add(self, verdict, reproduction):
        """Counts a verdict: its first word is the class, the rest is the description."""
        self.total += 1
        word = verdict.split()[0].rstrip(":")
        if word in BAD:
            for engine, kind, seen, damage, _ in self.known:
                if engine == self.engine and kind in ("*", self.kind) and re.search(seen, verdict) and re.search(damage, reproduction):
                    self.accepted += 1
                    return
            if len(self.examples) < 5:
                self.examples.append(f"{verdict}\n      {reproduction}")
        self.verdicts[word] = self.verdicts.get(word, 0) + 1

    def bad(self):
        return sum(self.verdicts.get(word, 0) for word in BAD)

    def line(self, note=""):
        good = ", ".join(f"{count} {word}" for word, count in sorted(self.verdicts.items()) if word not in BAD)
        bad = ", ".join(f"{self.verdicts.get(word, 0)} {word}" for word in BAD)
        limits = f", {self.accepted} on the list of limits" if self.accepted else ""
        return f"faults: {self.engine} {self.kind}: {self.total} {note}({good or 'none ok'}{limits}), {bad}"

    def show(self, note=""):
        print(self.line(note), flush=True)
        for example in self.examples:
            print("    " + example, flush=True)


def known_limits():
    """Reads limits.txt: engine, kind, patterns of the verdict and of the damage, reason; separated by tabs."""
    known = []
    with open(os.path.join(HERE, "..", "limits.txt"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                known.append(tuple(line.rstrip("\n").split("\t")))
    return known


def write(setting, engine, root, last, marks, command="write", limit=120, **settings):
    """Runs the writer with the preload library.

    Returns None for a normal exit, otherwise "crashed …".
    """
    environment = dict(os.environ, LD_PRELOAD=setting.shim, FAULTS_ROOT=root, FAULTS_MARKS=marks)
    environment.update({"FAULTS_" + name.upper(): str(value) for name, value in settings.items()})
    return ended([setting.child, command, engine, os.path.join(root, "store"), str(last)], environment, limit)


def ended(command, environment=None, limit=120, text=None):
    try:
        process = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limit, input=text, encoding="utf-8", errors="replace")
    except subprocess.TimeoutExpired:
        return f"crashed: no end after {limit} s"
    return told(process.returncode, process.stderr)


def told(code, errors=""):
    if code == 0:
        return None
    name = signal.Signals(-code).name if code < 0 else f"exit {code}"
    lines = [line for line in errors.splitlines() if line.strip()]
    where = next((line for line in lines if "Fatal error" in line or "atal:" in line), lines[0] if lines else "")
    return f"crashed with {name} {where[:200]}"


def check(setting, engine, images, mode="check", limit=300, environment=None):
    """Checks images, given as a path and its bounds.

    Returns a verdict for each. An image that crashes the checker is "crashed"; the next process checks the remaining ones.
    """
    verdicts = []
    while len(verdicts) < len(images):
        rest = images[len(verdicts) :]
        text = "".join(f"{path} {floor} {ceiling} {phase}\n" for path, (floor, ceiling, phase) in rest)
        try:
            process = subprocess.run(
                [setting.child, mode, engine], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limit, encoding="utf-8",
                errors="replace", env=environment)
            lines, code, errors = process.stdout.splitlines(), process.returncode, process.stderr
        except subprocess.TimeoutExpired as late:
            lines, code, errors = (late.stdout or b"").decode("utf-8", "replace").splitlines(), -signal.SIGKILL, f"no end after {limit} s"
        verdicts += lines[: len(rest)]
        if len(lines) < len(rest):
            verdicts.append(told(code, errors) or "crashed: the checker ended early")
    return verdicts


def counters(path):
    """Returns the number of counted and of failed calls."""
    with open(path, "rb") as file:
        return struct.unpack("<QQ", file.read(16))


def bounds(lines, is_power_cut=False):
    """Returns the last acknowledged commit (the last durable one, for a power failure), the last one begun, and the phase of a reset or a migration."""
    floor = ceiling = phase = 0
    for line in lines:
        words = line.split()
        if words[0] == "A" and (words[2] == "full" or not is_power_cut):
            floor = max(floor, int(words[1]))
        elif words[0] == "B":
            ceiling = max(ceiling, int(words[1]))
        elif words[0] in "ZYMN":
            phase = 1 + "ZYMN".index(words[0])
    return floor, ceiling, phase


def lines(marks):
    """Returns the complete lines of a marker file."""
    try:
        with open(marks, encoding="utf-8") as file:
            return [line.strip() for line in file if line.endswith("\n") and line.strip()]
    except FileNotFoundError:
        return []


def wrong(lines):
    """Returns the verdict on a wrong result that the writer has detected, or None."""
    for line in lines:
        if line.startswith("W "):
            return ("" if line[2:].split()[0] in BAD else "wrong ") + line[2:]
    return None


def remove(*paths):
    for path in paths:
        if os.path.exists(path):
            os.remove(path)
