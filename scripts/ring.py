#!/usr/bin/env python3
"""Runs a ring of checks, as many steps at a time as there are cores, and prints one line for each. The output of a failing step follows in full.

usage: scripts/ring.py check                 quick checks of the working tree: a fixed list of tests, the format, and the suites of modules changed since HEAD
       scripts/ring.py test                  `make test`
       scripts/ring.py ci                    `make test`, the checks of `.ci/run`, and a share of the thorough ring
       scripts/ring.py thorough              everything in full size; continues where an earlier run of the same commit ended
options:
  --only REGEX     runs the steps whose name matches, and those that they need
  --seed N         the seed of random choices; by default the commit id gives it
  --fresh          forgets what an earlier run of the thorough ring has passed
  --list           prints the steps and their commands, and runs none

The share of the thorough ring consists of the parts whose sources the commits since the last landing touch, of a half of the others, and of some suites in full
size. The commit id draws them, so that a run can be repeated. POLYSTORE_CI_BASE names the last landing; without it, it is where the branch left the remote's main branch, or else the
last commit that is a day older.
"""
import argparse
import json
import os
import pathlib
import re
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from rings import changes, steps  # noqa: E402
from rings.runner import CORES, Runner, Step, duration  # noqa: E402

# Tests of every layer that take at most 60 seconds together.
QUICK = [
    "PolyStoreBackendTests", "PolyStoreQueryTests", "PolyStoreTests", "ReferenceTests", "ConformanceTests.SQLiteConformance",
    "ConformanceTests.ConformanceSuite",
]
STATE = pathlib.Path(".build/thorough")


def check():
    """Returns the steps of `make check`."""
    files = changes.since("HEAD")
    changed, without = changes.suites(files)
    swift = [file for file in files if file.endswith(".swift") and os.path.exists(file)]
    filters = [f for f in QUICK if f.split(".")[0] not in changed]
    quick = " ".join(f"--filter '^{f}'" for f in filters)
    found = [
        Step("format", "swift format lint --strict " + " ".join(f"'{file}'" for file in swift) + " && echo 'every changed file has the format'"
             if swift else "echo 'no Swift file has changed'"),
        Step("build", f"{steps.BUILD} --build-tests", cores=CORES),
    ]
    # Without a filter, every test would run.
    if filters:
        found.append(Step("tests/quick", f"scripts/run-tests.py {quick}", needs=("build",), cores=CORES))
    if changed:
        modules = " ".join(f"--filter '^{f}'" for f in changed)
        found.append(Step("tests/changed", f"scripts/run-tests.py {modules}", needs=("build",), cores=CORES))
    print("changed since HEAD: " + (f"{len(files)} files; their suites: {', '.join(changed) or 'none'}" if files else "nothing"))
    if without:
        print(f"no suite of `make check` covers {', '.join(without)}; `make test` and `.ci/run` may")
    return found


def thorough(seed):
    """Returns the steps of the thorough ring."""
    chosen = steps.items()
    covered = {"tests", "tests/quick"}
    whole = [step for step in steps.test() + steps.always() if step.name not in covered]
    return whole + steps.needed_builds(chosen) + [item.step(item.full, seed, ()) for item in chosen]


def ci(seed):
    """Returns the steps of `.ci/run`."""
    base, why = changes.base()
    files = changes.since(base)
    parts = steps.items()
    candidates = [item for item in parts if item.share is not None]
    touched = [item for item in candidates if any(file.startswith(prefix) for prefix in item.covers for file in files)]
    others = [item for item in candidates if item not in touched]
    drawn = steps.draw(others, changes.head(), 0.5)
    chosen = touched + drawn
    sample = steps.sample(files, seed)
    out = [item.name for item in parts if item not in chosen]
    print(f"compared with {base[:12]} ({why}): {len(files)} files changed")
    print(f"the share of the thorough ring: {len(touched)} parts that the change touches, {len(drawn)} of {len(others)} others drawn, seed {seed}")
    print(f"left out until `make thorough`: {', '.join(out)}")
    needs = ("build/custom-backend",)
    parts = {item.swiftpm: [] for item in chosen}
    for item in chosen:
        parts[item.swiftpm].append(item.step(item.share, seed, needs))
    # Of the steps that can begin, the first one does: those that the release build waits for precede it.
    return steps.test() + sample + parts.get(True, []) + steps.always() + steps.needed_builds(chosen) + parts.get(False, [])


def select(found, pattern):
    """Returns the steps whose name matches, and those that they need."""
    wanted = {step.name for step in found if re.search(pattern, step.name)}
    if not wanted:
        sys.exit(f"No step matches '{pattern}'. The steps are: {', '.join(step.name for step in found)}")
    by_name = {step.name: step for step in found}
    todo = list(wanted)
    while todo:
        # A build stands for the tests that the order puts before it.
        for name in by_name[todo.pop()].needs:
            if name in by_name and name not in wanted and (name.startswith(("build", "examples"))):
                wanted.add(name)
                todo.append(name)
    return [step for step in found if step.name in wanted]


def needed(remaining, found):
    """Returns the names of the steps that others need, directly or not."""
    by_name = {step.name: step for step in found}
    names, todo = set(), [name for step in remaining for name in step.needs]
    while todo:
        name = todo.pop()
        if name in by_name and name not in names:
            names.add(name)
            todo += by_name[name].needs
    return names


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1], add_help=True)
    parser.add_argument("ring", choices=["check", "test", "ci", "thorough"])
    parser.add_argument("--only")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    commit = changes.head()
    seed = options.seed if options.seed is not None else int(commit[:6], 16) if commit != "none" else 1
    found = {"check": check, "test": steps.test, "ci": lambda: ci(seed), "thorough": lambda: thorough(seed)}[options.ring]()
    if options.only:
        found = select(found, options.only)
    if options.list:
        for step in found:
            settings = "".join(f"{name}={value} " for name, value in step.env.items())
            print(f"{step.name}{f' (alone: {step.alone})' if step.alone else ''}\n    {settings}{step.command}")
        return
    passed, state = {}, None
    if options.ring == "thorough":
        STATE.mkdir(parents=True, exist_ok=True)
        # Results of other code are not continued.
        state = STATE / f"{'-'.join(filter(None, [commit[:12], changes.fingerprint()]))}.jsonl"
        if options.fresh:
            state.unlink(missing_ok=True)
        if state.exists():
            passed = {row["step"]: row for row in map(json.loads, state.read_text().splitlines()) if row["status"] == "passed"}
            # Builds run again, which is quick when nothing has changed, and so do the steps whose results a remaining one needs.
            done = {step.name for step in found if step.name in passed and not step.name.startswith("build")}
            done -= needed([step for step in found if step.name not in done], found)
            found = [step for step in found if step.name not in done]
            print(f"{len(done)} steps have passed in an earlier run of this commit; --fresh repeats them")

    def keep(result):
        if state:
            with state.open("a") as file:
                file.write(json.dumps({
                    "step": result.step.name, "status": result.status, "elapsed": round(result.elapsed, 1), "cpu": round(result.cpu, 1),
                    "summary": result.summary, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}) + "\n")

    def repeat(step):
        # The environment matters to the builds.
        setting = "POLYSTORE_WARNINGS_AS_ERRORS=1 " if os.environ.get("POLYSTORE_WARNINGS_AS_ERRORS") else ""
        return f"{setting}scripts/ring.py {options.ring} --only '^{re.escape(step.name)}$' --seed {seed}".replace("\\-", "-").replace("\\/", "/")

    with tempfile.TemporaryDirectory(prefix="polystore-ring-") as results:
        # The programs are built: no script of a step builds them again.
        runner = Runner(found, repeat, {"RING_RESULTS": results, "POLYSTORE_BUILT": "1"}, keep)
        succeeded = runner.run()
    runner.report()
    if state:
        report(state)
    sys.exit(0 if succeeded else 1)


def report(state):
    """Writes the table of the thorough ring."""
    rows = {}
    for row in map(json.loads, state.read_text().splitlines()):
        rows[row["step"]] = row
    lines = [f"# The thorough ring on {state.stem}", "", "| step | status | elapsed | CPU | what it says |", "|---|---|---|---|---|"]
    for row in rows.values():
        summary = row["summary"].replace("|", "\\|")
        lines.append(f"| {row['step']} | {row['status']} | {duration(row['elapsed'])} | {duration(row['cpu'])} | {summary} |")
    file = state.with_suffix(".md")
    file.write_text("\n".join(lines) + "\n")
    print(f"the report is in {file}")


main()
