"""Failing calls: the N-th call on the store's files fails, or all from it on; then the store is opened without faults and compared."""

import os
import random

import common

KINDS = (
    # name, failing calls and errors
    ("EIO once", {"error": "EIO", "mode": "once"}),
    ("EIO from then on", {"error": "EIO", "mode": "from"}),
    ("ENOSPC once", {"error": "ENOSPC", "mode": "once"}),
    ("ENOSPC from then on", {"error": "ENOSPC", "mode": "from"}),
    ("short write once", {"error": "short", "mode": "once"}),
    ("short write, then ENOSPC", {"error": "short", "mode": "from"}),
    ("failed flush once", {"error": "EIO", "mode": "once", "class": "sync"}),
    ("failed flush from then on", {"error": "EIO", "mode": "from", "class": "sync"}),
    ("failed read once", {"error": "EIO", "mode": "once", "class": "read"}),
    ("failed read from then on", {"error": "EIO", "mode": "from", "class": "read"}),
    ("failed map once", {"error": "ENOMEM", "mode": "once", "class": "mmap"}),
    ("failed map from then on", {"error": "ENOMEM", "mode": "from", "class": "mmap"}),
)
KILL = (("kill", {"error": "KILL"}),)
# The kinds of work of the writer: its command, the number of commits.
WORK = (("write", 45), ("compact", 12), ("write", 1), ("replace", 4), ("migrate", 6), ("reindex", 9))


def positions(total, amount, draw):
    """Returns all calls if there are few, otherwise random ones."""
    if total <= amount:
        return list(range(1, total + 1))
    return sorted(draw.sample(range(1, total + 1), amount))


def run(setting, engine, amount, seed, known, kinds=KINDS):
    draw = random.Random(f"errors {engine} {seed}")
    marks, count_file = os.path.join(setting.folder, "marks"), os.path.join(setting.folder, "count")

    def attempt(command, commits, settings):
        common.remove(marks, count_file)
        root = setting.fresh("run")
        return root, common.write(setting, engine, root, commits, marks, command, count=count_file, limit=90, **settings)

    for name, settings in kinds:
        counts = common.Counts(engine, name, known)
        for command, commits in WORK:
            attempt(command, commits, dict(settings, at=0))
            total, _ = common.counters(count_file)
            # A quarter of the runs for the short kinds of work.
            for at in positions(total, amount if commits > 10 else max(amount // 4, 2), draw):
                root, ended = attempt(command, commits, dict(settings, at=at))
                note = f"{command} {commits}, call {at} of {total}: {' '.join(f'FAULTS_{key.upper()}={value}' for key, value in settings.items())}"
                # The number of calls varies with the engine's threads.
                if common.counters(count_file)[1] == 0:
                    continue
                told = common.lines(marks)
                if ended and not (ended.startswith("crashed with SIGKILL") and settings["error"] == "KILL"):
                    counts.add(ended, note)
                elif common.wrong(told):
                    counts.add(common.wrong(told), note)
                else:
                    counts.add(common.check(setting, engine, [(os.path.join(root, "store"), common.bounds(told))])[0], note)
        yield counts


def kills(setting, engine, amount, seed, known):
    """Kills the process at the N-th call."""
    return run(setting, engine, amount, seed, known, KILL)
