"""Calls that fail: the N-th call below the store fails, once or from then on; afterwards the store is opened without faults and compared."""

import os
import random

import common

KINDS = (
    # name, what fails and how, commits of the run
    ("EIO once", {"error": "EIO", "mode": "once"}),
    ("EIO from then on", {"error": "EIO", "mode": "from"}),
    ("ENOSPC once", {"error": "ENOSPC", "mode": "once"}),
    ("ENOSPC from then on", {"error": "ENOSPC", "mode": "from"}),
    ("short write once", {"error": "short", "mode": "once"}),
    ("short write, then ENOSPC", {"error": "short", "mode": "from"}),
    ("failed read once", {"error": "EIO", "mode": "once", "class": "read"}),
    ("failed map once", {"error": "ENOMEM", "mode": "once", "class": "mmap"}),
    ("failed map from then on", {"error": "ENOMEM", "mode": "from", "class": "mmap"}),
)


def positions(total, amount, draw):
    """Every call where there are few; otherwise all of the first opening, and random ones."""
    if total <= amount:
        return list(range(1, total + 1))
    first = min(total, amount // 3)
    return sorted(set(list(range(1, first + 1)) + [draw.randrange(first + 1, total + 1) for _ in range(amount - first)]))


def run(setting, engine, amount, seed, known):
    results = []
    draw = random.Random(f"errors {engine} {seed}")
    commits = 45
    marks, count_file = os.path.join(setting.folder, "marks"), os.path.join(setting.folder, "count")

    def attempt(settings, at):
        for path in (marks, count_file):
            if os.path.exists(path):
                os.remove(path)
        root = setting.fresh("run")
        more = {"at": at} if at else {}
        ended = common.write(setting, engine, root, commits, marks, count=count_file, limit=60, **settings, **more)
        return root, ended

    for name, settings in KINDS:
        counts = common.Counts(engine, name, known)
        attempt(settings, 0)
        total, _ = common.counters(count_file)
        unreached = 0
        for at in positions(total, amount, draw):
            root, ended = attempt(settings, at)
            note = f"call {at} of {total}: {' '.join(f'FAULTS_{key.upper()}={value}' for key, value in settings.items())}"
            # Threads of an engine make the number of calls differ.
            if common.counters(count_file)[1] == 0:
                unreached += 1
                continue
            floor, ceiling, wrong = common.bounds(marks)
            if ended:
                counts.add(ended, note)
            elif wrong:
                counts.add(("" if wrong.split()[0] in common.BAD else "wrong ") + wrong, note)
            else:
                counts.add(common.check(setting, engine, [(os.path.join(root, "store"), floor, ceiling)])[0], note)
        results.append(counts)
    return results
