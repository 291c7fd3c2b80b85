#!/usr/bin/env python3
"""Runs the commands of the terminal sessions in the documentation on the atlas, and compares what they print.

A session is a block of the language `console`. Each line that begins with `$ ` is a command, and the lines up to the next one are what it prints, output and errors. A line `…` stands for
any number of lines, and `…` in a line for any text. Further lines of a command begin with `> `.

usage: Tests/Interop/check_tool.py [--write] FOLDER     FOLDER contains atlas.db, atlas.lmdb and atlas.leveldb; --write replaces what the pages contain
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = ["README.md", "docs/guides/tool.md"]
BLOCK = re.compile(r"(^```console\n)(.*?)(^```$)", re.S | re.M)
STORES = ["atlas.db", "atlas.lmdb", "atlas.leveldb"]


def commands(session):
    """Returns the commands of a session with the lines that each prints."""
    found = []
    for line in session.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.startswith("> ") and found and not found[-1][1]:
            found[-1] = (found[-1][0] + "\n" + line[2:], [])
        elif found:
            found[-1][1].append(line)
    return found


def printed(command, folder):
    environment = dict(os.environ, PATH=f"{ROOT}/.build/debug:{os.environ['PATH']}", LC_ALL="C.UTF-8", TZ="UTC")
    result = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.stdout.decode().replace("\r\n", "\n").splitlines()


def matches(expected, lines):
    """Returns whether lines are the expected ones, in which `…` stands for any number."""
    pattern = "".join("(?:.*\n)*?" if line.strip() == "…" else ".*".join(map(re.escape, line.split("…"))) + "\n" for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in lines)) is not None


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    failures, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name in STORES:
            source = pathlib.Path(arguments[0]) / name
            if source.is_dir():
                shutil.copytree(source, f"{folder}/{name}")
            else:
                shutil.copy(source, folder)
        for page in PAGES:
            text = (ROOT / page).read_text()

            def session(match):
                nonlocal count
                written = []
                for command, expected in commands(match[2]):
                    count += 1
                    lines = printed(command, folder)
                    if not matches(expected, lines):
                        failures.append("\n".join([f"FAILED {page}: {command}"] + lines))
                    else:
                        lines = expected
                    written += ["$ " + command.replace("\n", "\n> ")] + lines
                return match[1] + "".join(line + "\n" for line in written) + match[3]

            new = BLOCK.sub(session, text)
            if "--write" in sys.argv[1:]:
                (ROOT / page).write_text(new)
    if failures and "--write" not in sys.argv[1:]:
        sys.exit("\n".join(failures))
    print(f"interop: {count} commands of the documentation print what it shows")


main()
