"""Runs the steps of a ring, as many at a time as there are cores, and prints one line for each."""

import dataclasses
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

CORES = max(1, os.cpu_count() or 1)


@dataclasses.dataclass
class Step:
    """A command of a ring.

    name        unique within a ring, such as `kill/sqlite/one`
    command     a command of bash, run in the root of the repository
    needs       the names of the steps that must pass first; those that the ring does not contain are ignored
    after       the names of the steps that must end first, whether or not they pass
    cores       the cores that the step keeps busy: CORES for a step that must not run beside another one
    alone       why a step that takes all cores must run alone, where it does not use them
    env         additional environment variables
    missing     a function that returns why the step cannot run on this machine, or None
    """

    name: str
    command: str
    needs: tuple = ()
    cores: int = 1
    alone: str = ""
    env: dict = dataclasses.field(default_factory=dict)
    missing: object = None
    after: tuple = ()


@dataclasses.dataclass
class Result:
    step: Step
    status: str  # passed, failed, left out
    elapsed: float = 0
    cpu: float = 0
    summary: str = ""
    output: str = ""


def duration(seconds):
    """Returns a duration as a person reads it."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"


def last_line(output):
    """Returns the last line of an output that is not empty, without control sequences and marks."""
    for line in reversed(output.splitlines()):
        line = re.sub(r"\x1b\[[0-9;]*m", "", line).strip()
        if line:
            return line.lstrip("✔✘◇􀟈 ").strip()[:160]
    return ""


class Runner:
    """Runs steps.

    on_result   a function that is called with each result when its step ends
    repeat      a function that returns the command that repeats a step
    """

    def __init__(self, steps, repeat, environment=None, on_result=None):
        self.steps = steps
        self.repeat = repeat
        self.environment = environment or {}
        self.on_result = on_result or (lambda result: None)
        self.results = {}
        self.running = {}
        self.lock = threading.Condition()
        self.began = time.monotonic()

    def run(self):
        """Runs every step, and returns a Boolean value that indicates whether none of them failed."""
        waiting = list(self.steps)
        names = {step.name for step in self.steps}
        ticker = threading.Thread(target=self.tick, daemon=True)
        if sys.stdout.isatty():
            ticker.start()
        with self.lock:
            while waiting or self.running:
                started = False
                for step in list(waiting):
                    needed = [self.results.get(name) for name in step.needs if name in names]
                    if any(result and result.status != "passed" for result in needed):
                        failed = next(result for result in needed if result and result.status != "passed")
                        waiting.remove(step)
                        self.end(Result(step, "left out", summary=f"{failed.step.name} did not pass"))
                        started = True
                        break
                    if any(result is None for result in needed) or any(name in names and name not in self.results for name in step.after):
                        continue
                    reason = step.missing() if step.missing else None
                    if reason:
                        waiting.remove(step)
                        self.end(Result(step, "left out", summary=reason))
                        started = True
                        break
                    used = sum(min(other.cores, CORES) for other, _, _ in self.running.values())
                    if used + min(step.cores, CORES) > CORES:
                        # A step that takes all cores is not overtaken for ever by smaller ones.
                        if step.cores >= CORES:
                            break
                        continue
                    waiting.remove(step)
                    self.start(step)
                    started = True
                    break
                if not started:
                    self.lock.wait()
        return all(result.status != "failed" for result in self.results.values())

    def start(self, step):
        file = tempfile.NamedTemporaryFile("w+b", prefix="step-", suffix=".log", delete=False)
        self.running[step.name] = (step, time.monotonic(), file.name)
        threading.Thread(target=self.execute, args=(step, file), daemon=True).start()

    def execute(self, step, file):
        began = time.monotonic()
        try:
            result = self.command(step, file)
        except Exception as error:
            result = Result(step, "failed", summary=f"did not run: {error}")
        result.elapsed = time.monotonic() - began
        with self.lock:
            del self.running[step.name]
            os.unlink(file.name)
            self.end(result)
            self.lock.notify_all()

    def command(self, step, file):
        environment = dict(os.environ, **self.environment, **step.env)
        process = subprocess.Popen(
            ["bash", "-c", "set -euo pipefail; " + step.command], stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
            env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        file.close()
        with open(file.name, errors="replace") as opened:
            output = opened.read()
        summary = last_line(output) if code == 0 else f"exit status {code}" if code > 0 else f"ended by signal {-code}"
        return Result(step, "passed" if code == 0 else "failed", cpu=usage.ru_utime + usage.ru_stime, summary=summary, output=output)

    def end(self, result):
        self.results[result.step.name] = result
        self.clear()
        name = result.step.name
        if result.status == "left out":
            print(f"left out  {name}: {result.summary}")
        elif result.status == "passed":
            print(f"passed    {name:<26} {duration(result.elapsed):>12}  CPU {duration(result.cpu):>12}  {result.summary}")
        else:
            print(f"FAILED    {name:<26} {duration(result.elapsed):>12}  CPU {duration(result.cpu):>12}  {result.summary}")
            print(result.output, end="" if not result.output or result.output.endswith("\n") else "\n")
            print(f"FAILED    {name}. Repeat it with: {self.repeat(result.step)}")
        sys.stdout.flush()
        self.on_result(result)

    # On a terminal, a line that shows what runs.

    def clear(self):
        if sys.stdout.isatty():
            print("\r\x1b[K", end="")

    def tick(self):
        while True:
            time.sleep(1)
            with self.lock:
                parts = []
                for step, began, path in self.running.values():
                    with open(path, "rb") as file:
                        file.seek(max(0, os.path.getsize(path) - 2000))
                        line = last_line(file.read().decode(errors="replace"))
                    parts.append(f"{step.name} ({duration(time.monotonic() - began)}) {line[:40]}")
                if parts:
                    columns = os.get_terminal_size().columns
                    print("\r\x1b[K" + "; ".join(parts)[: columns - 1], end="", flush=True)

    def report(self):
        """Prints the totals."""
        counts = {status: sum(r.status == status for r in self.results.values()) for status in ("passed", "failed", "left out")}
        cpu = sum(result.cpu for result in self.results.values())
        print(f"{duration(time.monotonic() - self.began)} elapsed, {duration(cpu)} CPU")
        print(f"steps: {counts['passed']} passed, {counts['failed']} failed, {counts['left out']} skipped", flush=True)
