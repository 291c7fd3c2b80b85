#!/usr/bin/env python3
"""Every Swift block of the guides stands, line by line, in the file that the comment before it names, and what the guides link to exists."""
import glob
import os
import re
import sys

BLOCK = re.compile(r"(?:<!-- from: (\S+) -->\n+)?```swift\n(.*?)```", re.S)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def lines(text):
    return [line.strip() for line in text.strip("\n").split("\n")]


def occurs(block, text):
    wanted, found = lines(block), lines(text)
    return any(found[i : i + len(wanted)] == wanted for i in range(len(found) - len(wanted) + 1))


def main():
    failures, count = [], 0
    guides = sorted(glob.glob("docs/guides/*.md"))
    for guide in guides:
        text = open(guide).read()
        for match in BLOCK.finditer(text):
            count += 1
            place = f"{guide}:{text.count(chr(10), 0, match.start()) + 1}"
            source, block = match.groups()
            if source is None:
                failures.append(f"{place}: a Swift block without <!-- from: FILE --> before it")
            elif not os.path.isfile(source):
                failures.append(f"{place}: there is no file {source}")
            elif not occurs(block, open(source).read()):
                failures.append(f"{place}: not in {source} as it stands; copy one to the other:\n{block}")
    for page in guides + ["docs/backends.md", "docs/guarantees.md", "README.md"]:
        # What looks like a link in code is none.
        for target in LINK.findall(re.sub(r"```.*?```|`[^`\n]*`", "", open(page).read(), flags=re.S)):
            if not os.path.exists(os.path.join(os.path.dirname(page), target)):
                failures.append(f"{page}: the link to {target} leads nowhere")
    if not guides or count == 0:
        failures.append("no Swift block was found in docs/guides")
    if failures:
        sys.exit("FAILED\n" + "\n".join(failures))
    print(f"guides: {count} blocks stand in the files that they are from")


main()
