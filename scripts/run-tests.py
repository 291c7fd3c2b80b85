#!/usr/bin/env python3
"""Runs the tests that are built, and checks that they ran. The output of the tests precedes a list of the failures.

usage: scripts/run-tests.py [--filter REGEX]...     after `swift build --build-tests`

Raises the limit of open files, which is only 256 on some systems. Each filter that matches no test is a failure. Without a filter, every name in Tests/names.txt
must have run.
"""
import concurrent.futures
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

os.chdir(pathlib.Path(__file__).resolve().parent.parent)

# Two write the stores of Tests/Golden on request, one downloads a text and runs in the thorough ring only.
SKIPPED = {
    "PolyStoreProcessTests.GoldenSearchTests/storesAreWritten(golden:)",
    "PolyStoreProcessTests.GoldenTests/storesAreWritten(golden:)",
    "PolyStoreSearchWitnessTests.KingJamesTests/everyWordIsFoundInItsVerses(_:)",
}

# The modules whose tests run in a process of their own, about half of all by CPU time.
HALF = r"^(ConformanceTests|PolyStoreKeyValueTests)\."


def raise_limit():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for wanted in (hard, 10_240, 4_096):
        if wanted != resource.RLIM_INFINITY and wanted > soft:
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
                return
            except (ValueError, OSError):
                continue


def run(options, folder, issues):
    """Runs tests, prints their output line by line, adds lines that report failures to `issues`, and returns the exit status and the results by name."""
    process = subprocess.Popen(
        ["swift", "test", "--skip-build", "--ignore-lock", "--disable-xctest", "--disable-build-manifest-caching", "--xunit-output",
         f"{folder}/tests.xml"] + options, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    for line in process.stdout:
        sys.stdout.write(line)
        if "✘" in line or "error: " in line or "Fatal error" in line:
            issues.append(line)
    status = process.wait()
    # SwiftPM adds a suffix to the name where XCTest could have results, too.
    cases = [case for file in pathlib.Path(folder).glob("*.xml") for case in results_root(file).iter("testcase")]
    return status, {f"{case.get('classname')}/{case.get('name')}": case for case in cases}


def results_root(file):
    """Returns the root element of a file of results, which is empty if the process ended early.

    Messages of failures can quote characters that XML 1.0 excludes, such as NUL, also as references.
    """
    def reference(match):
        number = int(match[1][1:], 16) if match[1][0] == "x" else int(match[1])
        return match[0] if allowed(number) else "\N{REPLACEMENT CHARACTER}"

    def allowed(number):
        return number in (0x9, 0xA, 0xD) or 0x20 <= number <= 0xD7FF or 0xE000 <= number <= 0xFFFD or 0x10000 <= number <= 0x10FFFF

    text = file.read_text(encoding="utf-8", errors="replace")
    text = "".join(character if allowed(ord(character)) else "\N{REPLACEMENT CHARACTER}" for character in text)
    try:
        return xml.etree.ElementTree.fromstring(re.sub(r"&#(x[0-9A-Fa-f]+|[0-9]+);", reference, text).encode())
    except xml.etree.ElementTree.ParseError:
        return xml.etree.ElementTree.Element("testsuites")


def main():
    options = sys.argv[1:]
    raise_limit()
    sys.stdout.reconfigure(line_buffering=True)
    issues, ran, statuses = [], {}, []
    with tempfile.TemporaryDirectory() as root, concurrent.futures.ThreadPoolExecutor() as pool:
        # A process has as many threads for tests as there are cores, and tests that wait occupy them: two processes keep the cores busy.
        parts = [options] if options else [["--filter", HALF], ["--skip", HALF]]
        folders = [tempfile.mkdtemp(dir=root) for _ in parts]
        for status, results in pool.map(run, parts, folders, [issues] * len(parts)):
            statuses.append(status)
            ran.update(results)
    status = max(statuses, key=abs)
    failed = [name for name, case in ran.items() if case.find("failure") is not None]
    skipped = [name for name, case in ran.items() if case.find("skipped") is not None]
    if issues and status:
        print("\nThe failures again:\n" + "".join(issues))
    if status == 0:
        filters = [options[index + 1] for index in range(len(options) - 1) if options[index] == "--filter"]
        unmatched = [pattern for pattern in filters if not any(re.search(pattern, name) for name in ran)]
        if unmatched or not ran:
            sys.exit(f"No test matches {' or '.join(unmatched)}.")
    missing = []
    if not options and status == 0:
        listed = {line.strip() for line in open("Tests/names.txt") if re.match(r"\w+\.", line)}
        missing = sorted((listed - set(ran) | listed & set(skipped)) - SKIPPED)
        for name in missing:
            print(f"{name} did not run")
    if status and not failed:
        print("The test process ended early: see the last test that started above.")
    print(f"tests: {len(ran) - len(failed) - len(skipped)} passed, {len(failed)} failed, {len(skipped)} skipped")
    sys.exit(status or (1 if missing else 0))


main()
