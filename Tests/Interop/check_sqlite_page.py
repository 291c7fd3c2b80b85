#!/usr/bin/env python3
"""Runs the queries and the Python code of docs/sqlite.md on a copy of the golden store, and compares the outputs with those on the page."""
import contextlib
import io
import os
import re
import shutil
import sqlite3
import sys
import tempfile

PAGE = "docs/sqlite.md"
STORE = "Tests/Golden/sqlite-1.store"


def query(code):
    db = sqlite3.connect(f"file:{STORE}?mode=ro", uri=True)
    rows = []
    for statement in filter(str.strip, code.split(";\n")):
        rows += db.execute(statement).fetchall()
    return "".join("|".join("" if value is None else str(value) for value in row) + "\n" for row in rows)


def main():
    text = open(PAGE).read()
    with tempfile.TemporaryDirectory() as folder:
        # Reading a store with a write-ahead log creates files next to it.
        os.makedirs(os.path.join(folder, os.path.dirname(STORE)))
        shutil.copy(STORE, os.path.join(folder, STORE))
        os.chdir(folder)
        check(text)


def check(text):
    blocks = re.findall(r"```(\w*)\n(.*?)```", text, re.S)
    failures, count, names = [], 0, {}
    for (language, code), (_, expected) in zip(blocks, blocks[1:]):
        if language not in ("sql", "python"):
            continue
        count += 1
        if language == "sql":
            found = query(code)
        else:
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(code, PAGE, "exec"), names)
            found = output.getvalue()
        if found != expected:
            failures.append(f"{PAGE}: expected\n{expected}found\n{found}of\n{code}")
    if count < 8:
        failures.append(f"{PAGE}: only {count} programs were found")
    if failures:
        sys.exit("FAILED\n" + "\n".join(failures))
    print(f"interop: {count} programs of {PAGE} print what the page says")


main()
