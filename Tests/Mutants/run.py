#!/usr/bin/env python3
"""Plants one defect at a time in a copy of the product, and reports which of them the tests detect.

Each mutant of mutants.txt replaces one text of one file. For each, the runner builds the copy, runs the tests of the changed module, and then `make test`. It
stops at the first failing test if that test fails again, alone or in a second run: a failure by chance detects nothing. The working tree is never changed: the
copy is a clone in the folder .build-mutants with a build folder of its own, which is kept, so that a mutant recompiles little more than the file it changes.

A run can be interrupted and continued: the results are in results.jsonl of that folder, and a mutant that is done for the same revision is not run again. The
runner checks that the tests pass without a mutant: those of the modules first, and the others before the first failure of one of them counts.

Outcomes: killed (a test fails, or the tests crash), hung (the tests print nothing any more, which also counts as killed), survived, timed out, does not apply
(the text does not occur exactly once in the revision), does not compile. The exit status is 0 if every selected mutant was killed.

examples:
  Tests/Mutants/run.py                                    every mutant on HEAD
  Tests/Mutants/run.py --draw 6 --seed 3                  six of them
  Tests/Mutants/run.py --only lmdb-dead-readers,gzip-cut-off --again
  Tests/Mutants/run.py --ring thorough                    the survivors also with POLYSTORE_RING=thorough
  Tests/Mutants/run.py --revision v1.2 --report old.md    the same mutants on another revision
  Tests/Mutants/run.py --check                            only whether each text occurs exactly once
  Tests/Mutants/run.py --compile                          only whether the mutants compile, in one build
"""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import queue
import resource
import signal
import subprocess
import sys

from harness.clone import REPOSITORY, Copy, git
from harness.mutants import read_list, select
from harness.process import Failure, fail, stopping
from harness.results import FINAL, KILLED, Results, report, sentence, totals
from harness.worker import ALL, MODULES, Worker

HERE = pathlib.Path(__file__).resolve().parent
# What `make test` runs, with the output of the tests as they run. Revisions without the script print it in `make test`.
SUITE = "if [ -e scripts/run-tests.py ]; then scripts/run-tests.py && Tests/Confinement/check.sh && Tests/ModelDiagnostics/check.sh; else make test; fi"


def say(line):
    print(line, flush=True)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=pathlib.Path, default=HERE / "mutants.txt", help="the list of mutants")
    parser.add_argument("--only", metavar="ID,…", help="only these mutants")
    parser.add_argument("--draw", type=int, metavar="N", help="only N mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="the seed of --draw (default: 1)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--revision", metavar="REV", help="the revision to test (default: HEAD; changes that are not committed are left out)")
    where.add_argument("--tree", metavar="DIR", help="work in DIR, a clone with a build folder that may be changed, instead of a copy")
    parser.add_argument("--report", type=pathlib.Path, metavar="FILE", help="write a table of all selected mutants in Markdown")
    parser.add_argument("--jobs", type=int, default=1, help="the number of copies in use at a time (default: 1)")
    parser.add_argument("--minutes", type=float, default=10, help="the time for the tests of one mutant, without its build (default: 10)")
    parser.add_argument("--ring", metavar="NAME", help="run the tests of survivors again with POLYSTORE_RING=NAME, such as thorough")
    parser.add_argument("--ring-minutes", type=float, default=60, help="the time for these tests (default: 60)")
    parser.add_argument("--suite", default=SUITE, metavar="COMMAND", help="the command that runs all tests (default: the tests of make test)")
    parser.add_argument("--baseline", action="store_true", help="run all tests without a mutant first, not only those of the modules")
    parser.add_argument("--again", action="store_true", help="run mutants that were run before again")
    parser.add_argument("--scratch", default=str(REPOSITORY / ".build-mutants"), metavar="DIR", help="the folder of the copy and the results")
    parser.add_argument("--check", action="store_true", help="only check that each mutant applies")
    parser.add_argument("--compile", action="store_true", help="only check that the mutants compile")
    return parser.parse_args()


# MARK: The tested revision


def backup(folder):
    """Returns the file for the originals of changed files, in a folder that git and the build ignore."""
    return folder / ".build" / "mutants-originals.json"


def source(options):
    """Returns the name of the tested revision, and a function that returns the text of a file in it."""
    if options.tree:
        folder = pathlib.Path(options.tree).resolve()
        if not (folder / "Package.swift").exists():
            fail(f"{folder} is not a clone of the project")
        if os.path.samefile(folder, REPOSITORY):
            fail("--tree changes files, so it needs another clone than the one of the list")
        copy = Copy(folder, backup(folder))
        changes = git(folder, "diff", "HEAD")
        name = git(folder, "rev-parse", "HEAD")
        return name + ("+" + hashlib.sha256(changes.encode()).hexdigest()[:8] if changes else ""), copy.text
    name = git(REPOSITORY, "rev-parse", "--verify", (options.revision or "HEAD") + "^{commit}")

    def text(path):
        done = subprocess.run(["git", "-C", str(REPOSITORY), "show", f"{name}:{path}"], capture_output=True)
        return done.stdout.decode("utf-8") if done.returncode == 0 else None

    return name, text


def copies(options, revision, count):
    if options.tree:
        folder = pathlib.Path(options.tree).resolve()
        return [Copy(folder, backup(folder))]
    scratch = pathlib.Path(options.scratch).resolve()
    folders = [scratch / ("tree" if number == 1 else f"tree-{number}") for number in range(1, count + 1)]
    return [Copy.clone(folder, backup(folder), revision) for folder in folders]


# MARK: Checking the list


def check(mutants, text):
    problems = [(mutant, mutant.problem(text(mutant.file))) for mutant in mutants]
    problems = [(mutant, problem) for mutant, problem in problems if problem]
    for mutant, problem in problems:
        say(f"mutants.txt:{mutant.line}: {mutant.id} does not apply: {problem}")
    say(f"{len(mutants) - len(problems)} of {len(mutants)} mutants apply")
    return 1 if problems else 0


def compile_all(mutants, worker, text):
    """Compiles all mutants in as few builds as possible: together, except for those whose texts overlap."""
    if check(mutants, text):
        return 1
    left = mutants
    while left:
        texts, planted, later = {}, [], []
        for mutant in left:
            now = texts.get(mutant.file, text(mutant.file))
            if mutant.problem(now):
                later.append(mutant)
            else:
                texts[mutant.file] = now.replace(mutant.old, mutant.new)
                planted.append(mutant)
        worker.copy.plant(planted)
        try:
            built = worker.build()
        finally:
            worker.copy.restore()
        if built.end == "stopped":
            return 1
        if built.code != 0:
            say("\n".join(dict.fromkeys(line for line in built.lines if "error:" in line)) or "\n".join(built.lines[-20:]))
            say(f"a build of {len(planted)} mutants failed after {built.seconds:.0f} s")
            return 1
        say(f"{len(planted)} mutants compile, in {built.seconds:.0f} s")
        left = later
    return 0


# MARK: Running


def stages(mutant, results, options):
    """Returns the stages that are still to be run for a mutant."""
    record = None if options.again else results.of(mutant)
    if not record or record["outcome"] not in FINAL:
        return [MODULES, ALL] + ([options.ring] if options.ring else [])
    if record["outcome"] == "survived" and options.ring and record["stage"] != options.ring:
        return [options.ring]
    return []


def run_all(mutants, options, results, text):
    left = {mutant: stages(mutant, results, options) for mutant in mutants}
    left = {mutant: wanted for mutant, wanted in left.items() if wanted}
    if len(left) < len(mutants):
        say(f"{len(mutants) - len(left)} of {len(mutants)} mutants were run before")
    for mutant in list(left):
        problem = mutant.problem(text(mutant.file))
        if problem:
            del left[mutant]
            results.save_mutant(mutant, {"outcome": "does not apply", "by": problem})
            say(f"{mutant.id}: does not apply: {problem}")
    if not left:
        return
    workers = [Worker(copy, options, results, say) for copy in copies(options, results.revision, min(options.jobs, len(left)))]
    for stage in [MODULES] + ([ALL] if options.baseline else []):
        if not workers[0].check_baseline(stage, list(left)):
            return
    waiting = queue.Queue()
    for number, mutant in enumerate(left, 1):
        waiting.put((number, mutant))

    def work(worker):
        worker.silence = max(worker.silence, workers[0].silence)
        while not stopping.is_set():
            try:
                number, mutant = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                record = worker.run(mutant, left[mutant])
            except BaseException:
                stopping.set()
                raise
            if record is None:
                return
            results.save_mutant(mutant, record)
            built = f" (build {record['build']:.0f} s)" if "build" in record else ""
            say(f"[{number}/{len(left)}] {mutant.id}: {sentence(record)}{built}")

    if len(workers) == 1:
        return work(workers[0])
    with concurrent.futures.ThreadPoolExecutor(len(workers)) as pool:
        for done in [pool.submit(work, worker) for worker in workers]:
            done.result()


def main(options):
    if options.tree and options.jobs > 1:
        fail("--tree is one copy, so it runs one mutant at a time")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    try:
        # As `make test` does: the usual limit of some systems is 256 open files.
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):
        pass
    mutants = select(read_list(options.list), options.only, options.draw, options.seed)
    revision, text = source(options)
    if options.check:
        return check(mutants, text)
    results = Results(pathlib.Path(options.scratch).resolve() / "results.jsonl", revision)
    if options.compile:
        return compile_all(mutants, Worker(copies(options, revision, 1)[0], options, results, say), text)
    if not options.tree and not options.revision and git(REPOSITORY, "status", "--porcelain", "--untracked-files=no"):
        say("the working tree has changes that are not committed; they are left out")
    try:
        run_all(mutants, options, results, text)
    finally:
        if options.report:
            options.report.write_text(report(mutants, results))
    if stopping.is_set():
        say("stopped; the same command, without --again, continues")
    left = [mutant for mutant in mutants if (results.of(mutant) or {"outcome": None})["outcome"] not in KILLED]
    for mutant in left:
        record = results.of(mutant)
        if record:
            say(f"not killed: {mutant.id}: {mutant.defect} ({sentence(record)})")
    say(totals(mutants, results))
    return 1 if left else 0


if __name__ == "__main__":
    try:
        sys.exit(main(options()))
    except Failure as failure:
        sys.exit(f"mutants: {failure}")
