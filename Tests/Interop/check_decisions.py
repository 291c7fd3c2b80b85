#!/usr/bin/env python3
"""Checks that each decision has the form that docs/decisions/README.md describes, and a row in its index.

usage: Tests/Interop/check_decisions.py     in the root of the repository
"""
import pathlib
import re
import sys

FOLDER = pathlib.Path("docs/decisions")
REQUIRED, OPTIONAL = ["Context", "Decision", "Consequences"], ["Rejected", "Evidence"]

wrong = []
index = (FOLDER / "README.md").read_text()
rows = dict(re.findall(r"^\| \d+ \| \[([^\]]+)\]\((\d{3}-[\w-]+\.md)\) \| [^|]+ \| [^|]+ \|$", index, re.M))
rows = {name: title for title, name in rows.items()}
files = sorted(FOLDER.glob("[0-9]*.md"))
for number, file in enumerate(files, 1):
    text = re.sub(r"^```.*?^```", "", file.read_text(), flags=re.S | re.M)
    lines = text.split("\n")
    title = re.fullmatch(rf"# {number}\. (.+)", lines[0])
    if not file.name.startswith(f"{number:03}-"):
        wrong.append(f"{file}: the number after {number - 1:03} is {number:03}")
    elif not title:
        wrong.append(f"{file}: the first line is not '# {number}. TITLE'")
    elif rows.pop(file.name, None) != title[1]:
        wrong.append(f"{file}: the index has no row with the title '{title[1]}'")
    if not re.match(r"\*\*Status:\*\* (Accepted|Replaced) \d{4}-\d\d-\d\d", lines[2] if len(lines) > 2 else ""):
        wrong.append(f"{file}: the third line is not '**Status:** Accepted DATE.' or '**Status:** Replaced DATE by …'")
    sections = re.findall(r"^## (.+)$", text, re.M)
    if sections != REQUIRED + [name for name in OPTIONAL if name in sections]:
        wrong.append(f"{file}: the sections are {', '.join(sections)}, not {', '.join(REQUIRED)} and then those of {', '.join(OPTIONAL)} that it has")
wrong += [f"{FOLDER}/README.md: {name} does not exist" for name in rows]

print("\n".join(wrong) if wrong else f"{len(files)} decisions have one form and a row in the index")
sys.exit(1 if wrong else 0)
