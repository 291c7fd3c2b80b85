#!/usr/bin/env python3
"""Checks that every Swift file, folder and type that docs/ARCHITECTURE.md, docs/locks.md and CONTRIBUTING.md name exists.

usage: Tests/Interop/check_architecture.py     in the root of the repository
"""
import pathlib
import re
import subprocess
import sys

PAGES = ["docs/ARCHITECTURE.md", "docs/locks.md", "CONTRIBUTING.md"]
FOLDERS = ("Sources/", "Backends/", "Conformance/", "Tests/", "Examples/", "Benchmarks/", "docs/", "scripts/")

listed = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True).stdout.split("\n")
files = {path for path in listed if path and pathlib.Path(path).exists()}
folders = {str(parent) for path in files for parent in pathlib.PurePath(path).parents}
ends = {part for path in files for part in ("/".join(path.split("/")[start:]) for start in range(path.count("/") + 1))}
declarations = set()
for path in files:
    if path.endswith(".swift"):
        text = pathlib.Path(path).read_text()
        declarations.update(re.findall(r"\b(?:class|struct|enum|protocol|actor|typealias|macro) (\w+)", text))

wrong = []
for page in PAGES:
    for number, line in enumerate(pathlib.Path(page).read_text().split("\n"), 1):
        for name in re.findall(r"`([^`]+)`", line):
            if "NNN" in name:
                continue
            if re.fullmatch(r"[\w+/.-]+\.(swift|py|sh|md)", name):
                # A bare name or a path within a module named before.
                if name not in ends and not any(end.endswith("/" + name) for end in ends):
                    wrong.append(f"{page}:{number}: there is no file {name}")
            elif name.startswith(FOLDERS) and re.fullmatch(r"[\w+/.-]+", name):
                if name.rstrip("/") not in folders and name not in files:
                    wrong.append(f"{page}:{number}: there is no folder {name}")
            elif (match := re.fullmatch(r"_?([A-Z]\w+)\.[a-z]\w*(?:\(.*\))?", name)):
                if match[1] not in declarations:
                    wrong.append(f"{page}:{number}: there is no type {match[1]}")

print("\n".join(wrong) if wrong else f"every file, folder and type of {', '.join(PAGES)} exists")
sys.exit(1 if wrong else 0)
