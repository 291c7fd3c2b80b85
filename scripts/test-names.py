#!/usr/bin/env python3
"""Lists the names of all tests and conformance cases in Tests/names.txt, so that none of them disappears unnoticed.

usage: scripts/test-names.py [--check]            after `swift build --build-tests`
       scripts/test-names.py --gone REVISION      prints the names that a revision lists and the working tree does not

Without an option the file is written. With --check it is compared, and a difference ends the program with an error.

A line is the name of a test, `MODULE.SUITE/function()`, a conformance case and the built-in backends that it applies to, `case ID: memory sqlite`, or an
engine case and its engines, `engine ID: memory lmdb`.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE = "Tests/names.txt"


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def names():
    tests = output("swift", "test", "list", "--skip-build", "--disable-xctest", "--disable-build-manifest-caching")
    cases = output(".build/debug/conformance-report", "ids")
    # Tests of one name in two modules are listed with their positions, which change.
    return sorted({re.sub(r"\)/[^/]*$", ")", line) for line in tests if "/" in line}) + sorted(cases)


def main():
    if sys.argv[1:2] == ["--gone"] and len(sys.argv) == 3:
        before = output("git", "show", f"{sys.argv[2]}:{FILE}")
        now = set((ROOT / FILE).read_text().splitlines())
        print("".join(f"{line}\n" for line in before if line not in now), end="")
        return
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    found = names()
    if not sys.argv[1:]:
        (ROOT / FILE).write_text("\n".join(found) + "\n")
        print(f"{FILE}: {len(found)} names")
        return
    kept = (ROOT / FILE).read_text().splitlines()
    gone, added = sorted(set(kept) - set(found)), sorted(set(found) - set(kept))
    for line in gone:
        print(f"- {line}")
    for line in added:
        print(f"+ {line}")
    if gone or added:
        sys.exit(f"{len(gone)} names of {FILE} are gone or changed, and {len(added)} are not listed. Restore a test that is gone by mistake; "
                 "then run scripts/test-names.py and commit the difference.")
    tests = sum("/" in line for line in found)
    print(f"{tests} tests and {len(found) - tests} conformance cases are those of {FILE}")


main()
