"""The list of mutants."""
import hashlib
import random
import re

from harness.process import fail


class Mutant:
    """An entry of the list."""

    def __init__(self, name, line):
        self.id = name
        self.line = line
        self.file = self.defect = None
        self.tests = []
        self.old, self.new = [], []

    def finish(self):
        self.old, self.new = "\n".join(self.old), "\n".join(self.new)
        for part, value in [("file", self.file), ("defect", self.defect), ("tests", self.tests), ("- text", self.old)]:
            if not value:
                fail(f"mutants.txt:{self.line}: {self.id} has no {part}")
        if self.old == self.new:
            fail(f"mutants.txt:{self.line}: {self.id} replaces its text by the same one")
        self.entry = hashlib.sha256("\0".join([self.file, self.old, self.new]).encode()).hexdigest()[:16]
        return self

    def problem(self, text):
        """Returns why the mutant cannot be planted in a file, or None. `text` is None for a missing file."""
        if text is None:
            return f"there is no file {self.file}"
        count = text.count(self.old)
        return None if count == 1 else f"its text occurs {count} times in {self.file}"

    def filters(self):
        """Returns the patterns of `swift test --filter` for the tests of the changed module."""
        return ["^" + re.escape(name) + ("/" if "." in name else r"\.") for name in self.tests]


def read_list(path):
    mutants = []
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        if word == "mutant":
            mutants.append(Mutant(rest.strip(), number))
            continue
        if not mutants:
            fail(f"{path}:{number}: expected a line \"mutant ID\"")
        mutant = mutants[-1]
        if word == "file":
            mutant.file = rest.strip()
        elif word == "defect":
            mutant.defect = rest.strip()
        elif word == "tests":
            mutant.tests = rest.split()
        elif word == "-":
            mutant.old.append(rest)
        elif word == "+":
            mutant.new.append(rest)
        else:
            fail(f"{path}:{number}: expected mutant, file, defect, tests, - or +, found {word!r}")
    mutants = [mutant.finish() for mutant in mutants]
    for mutant in mutants:
        if sum(other.id == mutant.id for other in mutants) > 1:
            fail(f"{path}:{mutant.line}: there are several mutants {mutant.id}")
    return mutants


def select(mutants, only, draw, seed):
    if only:
        wanted = [name for name in only.split(",") if name]
        for name in wanted:
            if name not in {mutant.id for mutant in mutants}:
                fail(f"there is no mutant {name}")
        mutants = [mutant for mutant in mutants if mutant.id in wanted]
    if draw is not None and draw < len(mutants):
        drawn = set(random.Random(seed).sample(sorted(mutant.id for mutant in mutants), draw))
        mutants = [mutant for mutant in mutants if mutant.id in drawn]
    return mutants
