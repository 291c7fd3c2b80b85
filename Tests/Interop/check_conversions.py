#!/usr/bin/env python3
"""Converts the atlas between all ordered pairs of engines and back with the tool, and compares the digests.

usage: Tests/Interop/check_conversions.py FOLDER     FOLDER contains atlas.db
"""
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent.parent / ".build/debug"


def run(*words):
    result = subprocess.run([PROGRAMS / "polystore", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = result.stdout.decode()
    if result.returncode != 0:
        sys.exit(f"polystore {' '.join(words)} exited with {result.returncode}: {text}")
    return text


def digest(source, target):
    """Converts a store, and returns the digest that both have."""
    found = re.search(r"^digest +([0-9a-f]{48})$", run("convert", source, target), re.M)
    return found[1] if found else sys.exit(f"the conversion of {source} to {target} printed no digest")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    server = subprocess.Popen([PROGRAMS / "postgresql-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    url = server.stdout.readline().strip()
    if not url:
        print(f"without PostgreSQL: {server.stderr.read().strip()}")
    with tempfile.TemporaryDirectory() as folder:
        def place(engine, name):
            return f"{url}{'&' if '?' in url else '?'}schema={name}" if engine == "postgresql" else f"{engine}:{folder}/{name}.{engine}"

        engines = ["sqlite", "lmdb", "leveldb"] + (["postgresql"] if url else [])
        # The copy also has what is in the log of the database.
        run("backup", f"{sys.argv[1]}/atlas.db", f"{folder}/atlas.sqlite")
        digests = {digest(place("sqlite", "atlas"), place(engine, "atlas")) for engine in engines[1:]}
        pairs = list(itertools.permutations(engines, 2))
        for number, (first, second) in enumerate(pairs):
            digests.add(digest(place(first, "atlas"), place(second, f"there{number}")))
            digests.add(digest(place(second, f"there{number}"), place(first, f"back{number}")))
        if len(digests) != 1:
            sys.exit(f"the conversions of the atlas have {len(digests)} digests: {', '.join(sorted(digests))}")
    server.communicate("")
    print(f"interop: the atlas has one digest after conversions between {len(pairs)} pairs of engines, and back")


main()
